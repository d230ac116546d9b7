/** The skill of the README: so little work that what is measured is all that is around it. */
import { defineSkill, Type } from '@chimera/skill/define'

/** In credits; free if it is left out. */
export const wordCount = (price = 0) =>
  defineSkill({
    name: 'word_count',
    version: '1.0',
    price,
    input: Type.Object({ text: Type.String({ maxLength: 100_000 }) }),
    output: Type.Object({ words: Type.Integer() }),
    timeout: '5s',
    run: async ({ text }) => ({ words: text.split(/\s+/).length }),
  })
