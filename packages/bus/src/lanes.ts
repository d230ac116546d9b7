/**
 * Durable messages on their way into a stream (B2), one lane for each subject.
 *
 *   D1  A message never overtakes another of its lane. What a later one has passed, since the
 *       stream took that and not this, is not sent again: its caller is told.
 *   D2  A message leaves its lane when it is kept, when it is refused, or when it can no longer be
 *       known: an unanswered one is sent again under its id only while the broker remembers ids.
 *   D3  Only so many wait. More are refused, none is dropped.
 */
import type { Instant } from '@chimera/domain/ids'
import { Failure, hasCode, reasonOf } from './failure.ts'
import type { BusLimits } from './limits.ts'
import type { BusChance, BusClock, Link } from './link.ts'
import { type DurableMessage, sizeOf } from './message.ts'
import type { StreamPlan } from './plan.ts'
import type { Stored } from './port.ts'

type LanePlan = Pick<StreamPlan, 'dedupeMs' | 'replicas'>

export type Lanes = {
  readonly store: (message: DurableMessage, plan: LanePlan) => Promise<Stored>
  /** A new link, or none. */
  readonly use: (link: Link | undefined) => void
  readonly waiting: () => number
  /** Resolves when all lanes are empty. */
  readonly drained: () => Promise<void>
  /** Gives up on what still waits. */
  readonly close: () => void
}

export type LanesOptions = {
  readonly limits: BusLimits
  readonly clock: BusClock
  readonly chance: BusChance
}

type Item = {
  readonly message: DurableMessage
  readonly plan: LanePlan
  readonly resolve: (stored: Stored) => void
  readonly reject: (failure: unknown) => void
  /** When it was first sent without hearing what became of it. */
  doubtSince: Instant | undefined
  underWay: boolean
  settled: boolean
}

type Lane = { readonly items: Item[]; running: boolean }

/** Kept or given up; or to be sent again, unless it was passed. */
type Sent = 'kept' | 'given up' | Failure

// One broker takes what comes by one connection in its order, so several may be under way. Where
// copies are kept, the broker in charge can change between two messages, and one goes at a time.
const UNDER_WAY = 256
const UNDER_WAY_BYTES = 1024 * 1024

export function createLanes({ limits, clock, chance }: LanesOptions): Lanes {
  const lanes = new Map<string, Lane>()
  let link: Link | undefined
  let messages = 0
  let bytes = 0
  let closed = false
  let drains: (() => void)[] = []

  function store(message: DurableMessage, plan: LanePlan): Promise<Stored> {
    const size = sizeOf(message)
    if (messages + 1 > limits.bufferedMessages || bytes + size > limits.bufferedBytes) {
      const detail = `${messages} durable messages and ${bytes} bytes wait`
      return Promise.reject(new Failure('buffer_full', detail))
    }
    messages += 1
    bytes += size
    return new Promise((resolve, reject) => {
      const lane = lanes.get(message.subject) ?? { items: [], running: false }
      lanes.set(message.subject, lane)
      const fresh = { doubtSince: undefined, underWay: false, settled: false }
      lane.items.push({ message, plan, resolve, reject, ...fresh })
      void run(message.subject, lane)
    })
  }

  const usable = (): Link | undefined => (closed ? undefined : link)

  async function run(subject: string, lane: Lane): Promise<void> {
    if (lane.running) return
    lane.running = true
    for (let over = usable(); over && lane.items.length > 0; over = usable()) {
      const to = over
      const round = nextRound(lane.items)
      const sent = await Promise.all(round.map((item) => send(item, to)))
      lane.items.splice(0, round.length, ...leftOf(round, sent))
      const again = sent.some((each) => each instanceof Failure)
      if (again && usable()) await pause()
    }
    lane.running = false
    if (lane.items.length === 0) lanes.delete(subject)
    if (lanes.size > 0) return
    for (const resolve of drains) resolve()
    drains = []
  }

  /** Those to be sent again. What was passed is given up here (D1). */
  function leftOf(round: readonly Item[], sent: readonly Sent[]): readonly Item[] {
    const last = sent.lastIndexOf('kept')
    return round.filter((item, at) => {
      const outcome = sent[at]
      if (!(outcome instanceof Failure)) return false
      if (at < last) giveUp(item, outcome)
      return at > last
    })
  }

  /** Calls the link before it returns, so that a round goes out in its order. */
  async function send(item: Item, over: Link): Promise<Sent> {
    const began = clock.now()
    // It may take the broker that long to read it.
    const arrives = began + limits.storedWithinMs
    if (item.doubtSince !== undefined && arrives > item.doubtSince + item.plan.dedupeMs) {
      giveUp(item, new Failure('outcome_unknown', 'the broker has forgotten the id by now'))
      return 'given up'
    }
    item.underWay = true
    try {
      const stored = await over.append(item.message, limits.storedWithinMs)
      settle(item)
      item.resolve(stored)
      return 'kept'
    } catch (error) {
      item.underWay = false
      if (hasCode(error, 'answer_lost', 'request_timeout')) {
        item.doubtSince ??= began
        return error
      }
      if (hasCode(error, 'nobody_listens', 'broker_away', 'broker_lacking')) return error
      giveUp(item, error)
      return 'given up'
    }
  }

  /** An earlier try may have been kept, whatever became of the last. */
  function giveUp(item: Item, error: unknown): void {
    const doubt = item.doubtSince !== undefined
    const detail = `${item.message.subject}: ${reasonOf(error)}`
    fail(item, doubt ? new Failure('outcome_unknown', detail, { cause: error }) : error)
  }

  function pause(): Promise<void> {
    const ms = limits.redialMs * (0.5 + chance.fraction())
    return new Promise((resolve) => {
      clock.after(ms, resolve)
    })
  }

  function settle(item: Item): void {
    if (item.settled) return
    item.settled = true
    messages -= 1
    bytes -= sizeOf(item.message)
  }

  function fail(item: Item, why: unknown): void {
    settle(item)
    item.reject(why)
  }

  return {
    store,
    use: (next) => {
      link = next
      if (next === undefined) return
      for (const [subject, lane] of lanes) void run(subject, lane)
    },
    waiting: () => messages,
    drained: () =>
      lanes.size === 0
        ? Promise.resolve()
        : new Promise((resolve) => {
            drains.push(resolve)
          }),
    close: () => {
      closed = true
      for (const { items } of lanes.values()) {
        for (const item of items) {
          const unknown = item.underWay || item.doubtSince !== undefined
          fail(item, new Failure(unknown ? 'outcome_unknown' : 'bus_closed', 'the bus was closed'))
        }
        items.length = 0
      }
      lanes.clear()
    },
  }
}

function nextRound(items: readonly Item[]): readonly Item[] {
  const most = (items[0]?.plan.replicas ?? 1) > 1 ? 1 : UNDER_WAY
  let bytes = 0
  let count = 0
  for (const { message } of items.slice(0, most)) {
    bytes += sizeOf(message)
    if (count > 0 && bytes > UNDER_WAY_BYTES) break
    count += 1
  }
  return items.slice(0, count)
}
