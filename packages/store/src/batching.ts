/**
 * What arrives together is done together. While batches are under way the next one gathers, so a
 * busy hour makes batches larger instead of queues longer.
 *
 *   G1  Batches begin in the order of arrival. Where several run at once, two items that share a
 *       name are never in two of them, and such items keep their order: what has to wait for its
 *       name keeps its place, and holds up whatever shares a name with it.
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
  /** For more than one batch at a time: how many, and what an item touches. */
  readonly lanes?: { readonly count: number; readonly namesOf: (item: Item) => readonly string[] }
}

export type Batching<Item, Answer> = {
  readonly isFull: () => boolean
  readonly add: (item: Item) => Promise<Answer>
  /** When everything that was added has been answered. */
  readonly idle: () => Promise<void>
}

type Entry<Item, Answer> = {
  readonly item: Item
  readonly names: readonly string[]
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

// A batch costs about as much as this many items do: fewer are not worth a batch beside another.
const WORTHWHILE = 32
// How far behind the first a batch looks for items whose names are free.
const LOOK_AHEAD = 4

export function createBatching<Item, Answer>({
  run,
  most,
  mostWaiting,
  lanes = { count: 1, namesOf: () => [] },
}: BatchOptions<Item, Answer>): Batching<Item, Answer> {
  const worthwhile = Math.min(WORTHWHILE, most)
  let waiting: Entry<Item, Answer>[] = []
  let underWay = 0
  let running = 0
  const held = new Set<string>()
  let isDue = false
  let whenIdle: (() => void)[] = []

  /** In a turn of the event loop, so that all that comes in the same one is in the batch. */
  function begin(): void {
    if (isDue) return
    isDue = true
    setImmediate(() => {
      isDue = false
      while (running < lanes.count && waiting.length >= (running === 0 ? 1 : worthwhile)) {
        const batch = take()
        if (batch.length === 0) break
        void work(batch)
      }
      if (running > 0) return
      for (const resolve of whenIdle) resolve()
      whenIdle = []
    })
  }

  /** A fair share of all there is, and whatever could not go into another batch beside it. */
  function take(): readonly Entry<Item, Answer>[] {
    const share = Math.max(worthwhile, Math.ceil((waiting.length + underWay) / lanes.count))
    const batch: Entry<Item, Answer>[] = []
    const left: Entry<Item, Answer>[] = []
    const own = new Set<string>()
    const blocked = new Set<string>()
    let at = 0
    for (; at < waiting.length && batch.length < most && at < LOOK_AHEAD * most; at += 1) {
      const entry = waiting[at]
      if (entry === undefined) break
      const isFree = !entry.names.some((name) => held.has(name) || blocked.has(name))
      const belongs = batch.length < share || entry.names.some((name) => own.has(name))
      const taken = isFree && belongs
      if (taken) batch.push(entry)
      else left.push(entry)
      for (const name of entry.names) (taken ? own : blocked).add(name)
    }
    waiting = [...left, ...waiting.slice(at)]
    return batch
  }

  async function work(batch: readonly Entry<Item, Answer>[]): Promise<void> {
    running += 1
    underWay += batch.length
    for (const { names } of batch) for (const name of names) held.add(name)
    const outcomes = await runAll(batch.map((each) => each.item))
    const putOff = batch.filter((each, at) => !settle(each, outcomes[at]))
    waiting = [...putOff, ...waiting]
    for (const { names } of batch) for (const name of names) held.delete(name)
    underWay -= batch.length
    running -= 1
    begin()
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
        const names = lanes.count > 1 ? lanes.namesOf(item) : []
        waiting.push({ item, names, resolve, reject })
        if (running < lanes.count) begin()
      }),
    idle: () =>
      new Promise((resolve) => {
        whenIdle.push(resolve)
        begin()
      }),
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
