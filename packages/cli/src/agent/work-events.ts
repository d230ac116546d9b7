/**
 * What becomes of each piece of work, told from what is kept of it: a keep is handed every step
 * before anybody hears of it, so whoever stands before the keep misses none.
 *
 *   W1  Telling changes nothing: the keep behind it gets and gives what it would without it.
 */
import { isUnfinished, type Keep, type KeptWork } from '@chimera/agent/work/keep'
import type { Clock } from '@chimera/host/clock'

export type WorkEvent = {
  readonly at: number
  readonly event:
    | 'asked'
    | 'approved'
    | 'refused'
    | 'done'
    | 'failed'
    | 'cancelled'
    | 'unknown'
    | 'paid'
  /** The agent's own name for it, by which a person agrees to it. */
  readonly work: string
  readonly task: string
  readonly skill: string
  readonly requester: string
  readonly priceCents: number
  /** Of what was asked: accepted, deferred, or waiting on a person. */
  readonly state?: string
  /** Since it was asked for. */
  readonly tookMs?: number
  /** A code, and words: why it was refused or has failed. */
  readonly why?: string
}

export function telling(
  keep: Keep,
  {
    clock,
    tell,
  }: { readonly clock: Pick<Clock, 'now'>; readonly tell: (event: WorkEvent) => void },
): Keep {
  /** As it was before, of what has not ended. */
  const known = new Map<string, KeptWork>()

  function remember(kept: KeptWork): void {
    if (isUnfinished(kept)) known.set(kept.scope, kept)
    else known.delete(kept.scope)
  }

  /** Work that has begun while it is written down: it is told as asked when that is done. */
  const entering = new Map<string, Promise<void>>()

  function told(kept: KeptWork, written: Promise<void>): Promise<void> {
    const { scope } = kept
    remember(kept)
    const over = written
      .then(
        () => tell(asked(kept, clock.now())),
        () => void known.delete(scope),
      )
      .finally(() => entering.delete(scope))
    entering.set(scope, over)
    return over
  }

  const { of, shared, enterEarly } = keep
  return {
    ...keep,
    ...(enterEarly && {
      enterEarly: (kept) => {
        const early = enterEarly(kept)
        if (early !== undefined) void told(kept, early.kept)
        return early
      },
    }),
    ...(shared && { shared: remembering(shared, remember) }),
    ...(of && { of: (agent) => telling(of(agent), { clock, tell }) }),
    async enter(kept) {
      const before = await keep.enter(kept)
      if (before === undefined) {
        tell(asked(kept, clock.now()))
        remember(kept)
      }
      return before
    },
    async unfinished() {
      const kept = await keep.unfinished()
      for (const each of kept) remember(each)
      return kept
    },
    async save(kept) {
      const before = known.get(kept.scope)
      const saved = await keep.save(kept)
      await entering.get(kept.scope)
      // In other hands by now: what becomes of it is told there.
      if (saved === 'lost') return saved
      // What has ended before, and is only sent again, was told then.
      const events = before === undefined ? [] : eventsOf(before, kept, clock.now())
      for (const event of events) tell(event)
      remember(kept)
      return saved
    },
  }
}

/** What comes from other instances is told from where they left it. */
function remembering(
  shared: NonNullable<Keep['shared']>,
  remember: (kept: KeptWork) => void,
): NonNullable<Keep['shared']> {
  return {
    ...shared,
    async takeOver(room) {
      const taken = await shared.takeOver(room)
      for (const each of taken) remember(each.kept)
      return taken
    },
    async take(id) {
      const kept = await shared.take(id)
      if (kept !== undefined) remember(kept)
      return kept
    },
  }
}

function asked(kept: KeptWork, at: number): WorkEvent {
  const { state } = kept.work
  if (state.name === 'refused') return { ...about(kept, at), event: 'refused', why: whyOf(kept) }
  return { ...about(kept, at), event: 'asked', state: state.name }
}

function eventsOf(before: KeptWork, kept: KeptWork, at: number): readonly WorkEvent[] {
  const { state, ask, priceCents } = kept.work
  const was = before.work.state.name
  const events: WorkEvent[] = []
  const tookMs = at - ask.askedAt
  if (state.name !== was) {
    if (state.name === 'refused') {
      events.push({ ...about(kept, at), event: 'refused', why: whyOf(kept) })
    } else if (state.name === 'accepted' && was === 'awaiting') {
      events.push({ ...about(kept, at), event: 'approved' })
    } else if (state.name === 'done' || state.name === 'unknown') {
      events.push({ ...about(kept, at), event: state.name, tookMs })
    } else if (state.name === 'failed' || state.name === 'cancelled') {
      events.push({ ...about(kept, at), event: state.name, tookMs, why: whyOf(kept) })
    }
  }
  // The hub has taken the signed result, which captures the hold (CH-9).
  const isPaid = state.name === 'done' && priceCents > 0 && kept.hold !== undefined
  if (isPaid && toHub(before) && !toHub(kept)) events.push({ ...about(kept, at), event: 'paid' })
  return events
}

const toHub = ({ letters }: KeptWork): boolean =>
  letters.some(({ to, says }) => to === 'hub' && says === 'result')

function about({ work, skill }: KeptWork, at: number): Omit<WorkEvent, 'event'> {
  const { ask, priceCents } = work
  return { at, work: ask.work, task: ask.task, skill, requester: ask.requester, priceCents }
}

function whyOf({ work: { state }, refused }: KeptWork): string {
  if (state.name === 'refused') {
    const issues = (refused?.particulars.issues ?? []).map(
      ({ path, expected, got }) => `${path}: expected ${expected}; got ${got}`,
    )
    return [refused?.refusal ?? state.refusal, ...issues].join('  ')
  }
  if (state.name === 'cancelled') return state.cause === 'unapproved' ? 'nobody agreed to it' : ''
  if (state.name !== 'failed') return ''
  const { code, message } = state.fault
  return `${code}: ${message}`
}
