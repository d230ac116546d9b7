/** An agent with one small skill in a process of its own: told how, it answers where it is. */
import { type AgentOptions, createAgent, defineSkill, Type } from '@chimera/agent'
import { openFileKeep } from '@chimera/agent/work/file-keep'
import { createMemoryKeep } from '@chimera/agent/work/memory-keep'
import { answerIn } from './process-of.ts'

export type AgentWanted = Pick<AgentOptions, 'hub' | 'owner' | 'slots'> & {
  readonly token?: string
  /** In credits; free if it is left out. */
  readonly price?: number
  /** Where work is kept before it is answered; in memory if it is left out. */
  readonly directory?: string
}

/** More than all rounds together: what is answered is kept for a day. */
const MOST = 10_000_000

const wordCount = (price: number) =>
  defineSkill({
    name: 'word_count',
    version: '1.0',
    price,
    input: Type.Object({ text: Type.String({ maxLength: 100_000 }) }),
    output: Type.Object({ words: Type.Integer() }),
    timeout: '5s',
    run: async ({ text }) => ({ words: text.split(/\s+/).length }),
  })

answerIn(async ({ directory, token, price = 0, ...wanted }: AgentWanted) => {
  const files = directory === undefined ? undefined : await openFileKeep({ directory, most: MOST })
  const agent = createAgent({
    ...wanted,
    name: 'chimera-counter',
    skills: [wordCount(price)],
    directory: false,
    signals: false,
    log: 'silent',
    keep: files?.keep ?? createMemoryKeep({ now: Date.now, most: MOST }),
    ...(token !== undefined && { token }),
  })
  await agent.start()
  return { address: agent.address(), id: agent.id() }
})
