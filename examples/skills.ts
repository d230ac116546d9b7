/** The skills that the examples offer and hire. */
import { setTimeout as sleep } from 'node:timers/promises'
import { defineSkill, Type } from '@chimera/agent'

export const wordCount = defineSkill({
  name: 'word_count',
  version: '1.0',
  description: 'Counts the words of a text.',
  price: 0.05,
  input: Type.Object({ text: Type.String({ maxLength: 100_000 }) }),
  output: Type.Object({ words: Type.Integer() }),
  timeout: '5s',
  run: async ({ text }) => ({ words: text.split(/\s+/).length }),
})

/** Takes a moment for each chapter, says how far it is, and stops when nobody waits any more. */
export const readBook = defineSkill({
  name: 'read_book',
  version: '1.0',
  description: 'Reads a book, chapter by chapter.',
  price: 0.2,
  input: Type.Object({ chapters: Type.Integer({ minimum: 1, maximum: 20 }) }),
  output: Type.Object({ pages: Type.Integer() }),
  timeout: '30s',
  run: async ({ chapters }, { signal, progress }) => {
    for (let chapter = 1; chapter <= chapters; chapter += 1) {
      await sleep(60, undefined, { signal })
      progress(chapter / chapters, `chapter ${chapter}`)
    }
    return { pages: chapters * 12 }
  },
})
