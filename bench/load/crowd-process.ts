/** Many agents in one process at one hub: told how many, it answers what each of them takes. */
import { createAgent } from '@chimera/agent'
import { wordCount } from '../stage/word-count.ts'
import { answerIn } from './process-of.ts'

export type CrowdTold = {
  readonly hub: string
  readonly owner: string
  readonly token: string
  readonly agents: number
}

export type CrowdStarted = { readonly heapPerAgent: number; readonly rssPerAgent: number }

// A start is a handful of requests; more at once would only wait for each other.
const AT_ONCE = 20

const settled = async (): Promise<NodeJS.MemoryUsage> => {
  globalThis.gc?.()
  await new Promise((resolve) => setTimeout(resolve, 500))
  globalThis.gc?.()
  return process.memoryUsage()
}

answerIn(async ({ agents, ...where }: CrowdTold) => {
  const before = await settled()
  const skills = [wordCount()]
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < agents) {
      next += 1
      const agent = createAgent({
        ...where,
        name: `chimera-crowd-${next}`,
        skills,
        directory: false,
        signals: false,
        log: 'silent',
      })
      await agent.start()
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
  const after = await settled()
  return {
    heapPerAgent: (after.heapUsed - before.heapUsed) / agents,
    rssPerAgent: (after.rss - before.rss) / agents,
  } satisfies CrowdStarted
})
