/**
 * Hires out of events: what was reserved, held, accepted, begun, handed over, paid and rated, put
 * together by the task that both sides know it by. The past and the live feed are read alike.
 *
 *   W1  An event is counted once, by its place in the chain, in whatever order they come.
 *   W2  How a hire stands follows from its steps alone.
 */
import type { Told } from './events.ts'

export type Step = {
  readonly seq: number
  readonly at: number
  readonly kind: string
  readonly words: string
  readonly tone: Tone
  readonly amount?: number
}

export type Tone = 'plain' | 'good' | 'bad' | 'warn'

export type HireState = 'reserved' | 'asked' | 'working' | 'done' | 'paid' | 'failed' | 'ended'

export type Hire = {
  readonly task: string
  readonly correlation?: string
  readonly hold?: string
  readonly agent?: string
  readonly hirer?: string
  readonly payer?: string
  readonly payee?: string
  readonly amount?: number
  readonly price?: number
  readonly state: HireState
  readonly beganAt: number
  readonly changedAt: number
  readonly steps: readonly Step[]
}

export type Hires = ReadonlyMap<string, Hire>

type Meaning = {
  readonly words: (told: Told) => string
  readonly tone: (told: Told) => Tone
  /** Later in the life of a hire than what has a lower one. */
  readonly rank: number
  readonly state?: (told: Told) => HireState | undefined
}

const plain = () => 'plain' as const
const good = () => 'good' as const
const credits = (amount: number | undefined) => (amount === undefined ? '' : amount.toFixed(2))
const isDone = ({ how }: Told) => how === 'done'

const RELEASED: Readonly<Record<string, string>> = {
  refused: 'The agent turned it down; the credits are back',
  cancelled: 'It was called off; the credits are back',
  failed: 'It failed; the credits are back',
  withdrawn: 'The payer withdrew; the credits are back',
  overdue: 'Its deadline passed without an end; the credits are back',
}

const MEANINGS: Readonly<Record<string, Meaning>> = {
  slots_reserved: {
    words: ({ slots }) => `A slot was reserved${slots && slots > 1 ? ` (${slots})` : ''}`,
    tone: plain,
    rank: 1,
    state: () => 'reserved',
  },
  credits_held: {
    words: ({ amount }) => `${credits(amount)} credits were put aside`,
    tone: plain,
    rank: 2,
    state: () => 'asked',
  },
  hold_confirmed: {
    words: ({ price }) => `Asked, the agent accepted at ${credits(price)}`,
    tone: plain,
    rank: 3,
    state: () => 'working',
  },
  slots_taken: { words: () => 'Work began', tone: plain, rank: 4, state: () => 'working' },
  slots_freed: { words: () => 'The slot is free again', tone: plain, rank: 0 },
  reservation_ended: {
    words: ({ because }) => `The reservation ended${because ? ` (${because})` : ''}`,
    tone: plain,
    rank: 0,
  },
  result_recorded: {
    words: (told) => (isDone(told) ? 'The result was handed over' : `It ended: ${told.how ?? ''}`),
    tone: (told) => (isDone(told) ? 'good' : 'bad'),
    rank: 5,
    state: (told) => (isDone(told) ? 'done' : 'failed'),
  },
  hold_captured: {
    words: ({ amount }) => `${credits(amount)} credits were paid`,
    tone: good,
    rank: 6,
    state: () => 'paid',
  },
  credits_transferred: {
    words: ({ amount }) => `${credits(amount)} credits were paid`,
    tone: good,
    rank: 6,
    state: () => 'paid',
  },
  credits_refunded: {
    words: ({ amount }) => `${credits(amount)} credits were given back`,
    tone: () => 'warn',
    rank: 7,
  },
  hold_released: {
    words: ({ because = '' }) => RELEASED[because] ?? 'The credits are back',
    tone: ({ because }) => (because === 'withdrawn' || because === 'refused' ? 'warn' : 'bad'),
    rank: 6,
    state: ({ because }) => (because === 'failed' || because === 'overdue' ? 'failed' : 'ended'),
  },
  hold_lapsed: {
    words: () => 'Nobody accepted in time; the credits are back',
    tone: () => 'warn',
    rank: 6,
    state: () => 'ended',
  },
  outcome_reported: { words: () => 'The hirer rated it', tone: plain, rank: 0 },
}

/** The kinds that a hire is made of. */
export const HIRE_KINDS: readonly string[] = Object.keys(MEANINGS)

export function applyHires(hires: Hires, events: Iterable<Told>): Hires {
  const next = new Map(hires)
  for (const told of events) {
    const { task_id: task, seq } = told
    const meaning = MEANINGS[told.kind]
    if (task === undefined || seq === undefined || meaning === undefined) continue
    const before = next.get(task)
    if (before?.steps.some((step) => step.seq === seq)) continue
    next.set(task, extend(before, told, { task, seq, meaning }))
  }
  return next
}

function extend(
  before: Hire | undefined,
  told: Told,
  {
    task,
    seq,
    meaning,
  }: { readonly task: string; readonly seq: number; readonly meaning: Meaning },
): Hire {
  const at = Date.parse(told.at)
  const amount = told.kind === 'hold_captured' ? told.amount : (told.amount ?? told.price)
  const step: Step = {
    seq,
    at,
    kind: told.kind,
    words: meaning.words(told),
    tone: meaning.tone(told),
    ...(amount !== undefined && { amount }),
  }
  const steps = [...(before?.steps ?? []), step].sort((a, b) => a.seq - b.seq)
  const state = stateOf(steps, before, meaning.state?.(told), seq)
  return {
    ...before,
    task,
    ...pick('correlation', correlationOf(before, told)),
    ...pick('hold', told.hold_id ?? before?.hold),
    ...pick('agent', told.agent_id ?? before?.agent),
    ...pick('hirer', told.planner_id ?? before?.hirer),
    ...pick('payer', told.payer ?? before?.payer),
    ...pick('payee', told.payee ?? before?.payee),
    ...pick('amount', told.kind === 'credits_held' ? told.amount : before?.amount),
    ...pick('price', priceOf(told) ?? before?.price),
    state,
    beganAt: steps[0]?.at ?? at,
    changedAt: steps.at(-1)?.at ?? at,
    steps,
  }
}

/** The result names what the work is part of; the books may know it by its task alone. */
function correlationOf(before: Hire | undefined, told: Told): string | undefined {
  const known = before?.correlation
  return told.kind === 'result_recorded' ? (told.correlation ?? known) : (known ?? told.correlation)
}

const pick = <Name extends string, Value>(name: Name, value: Value | undefined) =>
  (value === undefined ? {} : { [name]: value }) as { readonly [Each in Name]?: Value }

function priceOf({ kind, price, amount }: Told): number | undefined {
  if (kind === 'hold_confirmed') return price
  return kind === 'hold_captured' || kind === 'credits_transferred' ? amount : undefined
}

/** W2. A later word of lower rank (a slot that is freed) does not take back how it ended. */
function stateOf(
  steps: readonly Step[],
  before: Hire | undefined,
  said: HireState | undefined,
  seq: number,
): HireState {
  if (before === undefined) return said ?? 'asked'
  if (said === undefined) return before.state
  const rankOf = (kind: string) => MEANINGS[kind]?.rank ?? 0
  const own = steps.find((step) => step.seq === seq)
  const others = steps.filter((step) => step.seq !== seq && rankOf(step.kind) > 0)
  const highest = Math.max(0, ...others.map(({ kind }) => rankOf(kind)))
  const rank = own === undefined ? 0 : rankOf(own.kind)
  // A task may be tried again after it ended: then the later attempt counts.
  const isNew = rank <= 2 && others.every((step) => step.seq < seq)
  return rank >= highest || isNew ? said : before.state
}

/** The agent that hires; of work within other work, the one that does the other. */
export const hirerOf = ({ hirer, correlation, task }: Hire, hires: Hires): string | undefined =>
  hirer ?? (correlation === task ? undefined : hires.get(correlation ?? '')?.agent)

/** The latest change first. */
export function latestHires(hires: Hires): readonly Hire[] {
  return [...hires.values()].sort((a, b) => b.changedAt - a.changedAt || (a.task < b.task ? -1 : 1))
}

/** What is done and cost nothing has no payment to wait for. */
export const isOpen = ({ state, hold }: Hire): boolean =>
  state === 'reserved' ||
  state === 'asked' ||
  state === 'working' ||
  (state === 'done' && hold !== undefined)
