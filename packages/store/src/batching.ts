/**
 * What arrives together is done together. While one batch is under way the next one gathers, so a
 * busy hour makes batches larger instead of queues longer.
 *
 *   G1  One batch at a time, in the order of arrival.
 *   G2  What waits is bounded: whoever adds looks first whether there is room.
 *   G3  An item can be put off to the next batch; it keeps its place before later ones.
 *   G4  When a batch fails for another reason than the database being away, its items are tried
 *       one by one, so that a wrong one fails alone.
 */
import { hasCode } from './failure.ts'

export const PUT_OFF = Symbol('put off')

export type Outcome<Answer> = Answer | Error | typeof PUT_OFF

export type BatchOptions<Item, Answer> = {
  /** One answer for each item; an error goes to its caller alone. */
  readonly run: (items: readonly Item[]) => Promise<readonly Outcome<Answer>[]>
  /** Items in one batch. */
  readonly most: number
  /** Items that may wait, those under way not counted. */
  readonly mostWaiting: number
}

export type Batching<Item, Answer> = {
  readonly isFull: () => boolean
  readonly add: (item: Item) => Promise<Answer>
  /** When everything that was added has been answered. */
  readonly idle: () => Promise<void>
}

type Entry<Item, Answer> = {
  readonly item: Item
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

export function createBatching<Item, Answer>({
  run,
  most,
  mostWaiting,
}: BatchOptions<Item, Answer>): Batching<Item, Answer> {
  let waiting: Entry<Item, Answer>[] = []
  let working: Promise<void> | undefined

  async function work(): Promise<void> {
    // A turn of the loop, so that what comes in the same one is in the first batch already.
    await Promise.resolve()
    while (waiting.length > 0) {
      const batch = waiting.slice(0, most)
      waiting = waiting.slice(most)
      const outcomes = await runAll(batch.map((each) => each.item))
      const putOff = batch.filter((each, at) => !settle(each, outcomes[at]))
      waiting = [...putOff, ...waiting]
    }
    working = undefined
  }

  async function runAll(items: readonly Item[]): Promise<readonly Outcome<Answer>[]> {
    try {
      return await run(items)
    } catch (error) {
      if (items.length === 1 || isAway(error)) return items.map(() => asError(error))
    }
    const outcomes: Outcome<Answer>[] = []
    for (const item of items) outcomes.push(...(await runAll([item])))
    return outcomes
  }

  return {
    isFull: () => waiting.length >= mostWaiting,
    add: (item) =>
      new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject })
        working ??= work()
      }),
    idle: async () => {
      // Whoever was answered may have added more.
      for (let now = working; now !== undefined; now = working) await now
    },
  }
}

const isAway = (error: unknown) =>
  hasCode(error, 'database_unreachable', 'database_busy', 'database_closed', 'outcome_unknown')

const asError = (error: unknown): Error =>
  error instanceof Error ? error : new Error(String(error), { cause: error })

function settle<Answer>(
  { resolve, reject }: Entry<unknown, Answer>,
  outcome: Outcome<Answer> | undefined,
): boolean {
  if (outcome === PUT_OFF) return false
  if (outcome === undefined) reject(new Error('a batch left an item without an answer'))
  else if (outcome instanceof Error) reject(outcome)
  else resolve(outcome)
  return true
}
