/**
 * A hub with many agents in a thread of its own, so that its heap is its own too. The agents live
 * while they are searched for: a tenth posts presence every 10 s, and the others beat every 30 s.
 *
 *   T1  Every agent offers 3 of 200 skills at 1 of 100 prices, and one skill that all offer. Half
 *       are newcomers at 50 points; the others have 1 to 12 pieces of work behind them, some of
 *       them failed.
 *   T2  One seed gives one town.
 */
import { once } from 'node:events'
import { threadOf } from './thread-of.ts'

export type Town = {
  readonly port: number
  /** Bytes of the heap for each agent, its score and its instance included. */
  readonly bytesPerAgent: number
  /** To enter them all. */
  readonly enteredMs: number
  readonly close: () => Promise<void>
}

/** What all of them offer, and one of what some offer. */
export const COMMON = 'common'
export const skillNamed = (number: number): string => `skill_${number}`
export const SKILLS = 200
/** The bytes of an answer that was given before: `/same/0` for the first of the paths. */
export const samePath = (number: number): string => `/same/${number}`

export type TownWanted = {
  readonly agents: number
  /** Their answers are kept, to be sent again as they are. */
  readonly paths?: readonly string[]
}
export type TownOpened = Omit<Town, 'close'>

export async function openTown(wanted: TownWanted): Promise<Town> {
  const worker = threadOf(new URL('./town-thread.ts', import.meta.url), wanted)
  const [opened] = (await once(worker, 'message')) as [TownOpened]
  return { ...opened, close: async () => void (await worker.terminate()) }
}

export const TOWN =
  'Every agent offers 3 of 200 skills and one that all offer, at 1 of 100 prices; half of them ' +
  'have the score of a newcomer, the others 1 to 12 outcomes. While it is measured a tenth of ' +
  'them posts presence with a new load every 10 s, and the others beat every 30 s.'
