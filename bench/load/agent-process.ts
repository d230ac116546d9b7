/** An agent with one small skill in a process of its own: told how, it answers where it is. */
import { type AgentOptions, createAgent } from '@chimera/agent'
import { openFileKeep } from '@chimera/agent/work/file-keep'
import { createMemoryKeep } from '@chimera/agent/work/memory-keep'
import { wordCount } from '../stage/word-count.ts'
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

answerIn(async ({ directory, token, price, ...wanted }: AgentWanted) => {
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
