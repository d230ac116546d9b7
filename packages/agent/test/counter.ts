/** The agent of the README as a process of its own; the hub's address is its argument. */
import { createAgent, defineSkill, Type } from '../src/index.ts'

const wordCount = defineSkill({
  name: 'word_count',
  version: '1.0',
  price: 0.05,
  input: Type.Object({ text: Type.String({ maxLength: 100_000 }) }),
  output: Type.Object({ words: Type.Integer() }),
  timeout: '5s',
  run: async ({ text }) => ({ words: text.split(/\s+/).length }),
})

const agent = createAgent({
  name: 'chimera-counter',
  owner: 'acme',
  hub: process.argv[2] ?? '',
  skills: [wordCount],
})
await agent.start()
