/**
 * Orders of an operator to agents: pause, resume, drain, publishing on or off, the canary's share.
 * A hub gives and signs them; an agent obeys the hub whose key its settings name, and nobody else.
 *
 * Each order moves one lever: `running`, `publishing` or `canary`. An order to all, to an owner's
 * agents or to one agent counts alike; what was said last holds.
 *
 *   O1  An agent obeys only what the configured key has signed, for this agent, within its time.
 *   O2  Sequence numbers of a hub rise with every order, so on one lever a newer order replaces an
 *       older one for good, in whatever order they arrive. Again is nothing new.
 *   O3  An order holds until it expires or is replaced. A pause that expires ends; what an order
 *       switched off stays off until one switches it on, for silence must not publish.
 *   O4  An order never does what the rules of the roll-out forbid: everybody publishes only after
 *       the canary's time, and what trouble switched off needs a new order.
 */
import type { ConditionCommand, ConditionName } from './agent/condition.ts'
import { accept, type Decision, refuse } from './decision.ts'
import type { AgentId, ControlId, Digest, Instant, KeyId, OwnerId } from './ids.ts'
import { LIMITS } from './limits.ts'
import { mayPublish, type Rollout, type RolloutCommand } from './voice/rollout.ts'

export const LEVERS = ['running', 'publishing', 'canary'] as const
export type Lever = (typeof LEVERS)[number]

export type ControlAction =
  | { readonly type: 'pause' | 'resume' | 'drain' }
  | { readonly type: 'publishing'; readonly on: boolean }
  | { readonly type: 'canary'; readonly share: number }

export type Addressee =
  | { readonly kind: 'agent'; readonly agent: AgentId }
  | { readonly kind: 'owner'; readonly owner: OwnerId }
  | { readonly kind: 'all' }

export type ControlOrder = {
  readonly id: ControlId
  readonly to: Addressee
  readonly action: ControlAction
  readonly reason?: string
  readonly issuedAt: Instant
  readonly expiresAt: Instant
  readonly sequence: number
  /** Of the hub that gave it. */
  readonly key: KeyId
}

/** What an operator asks for; without an end it holds for the usual time. */
export type ControlWanted = Pick<ControlOrder, 'id' | 'to' | 'action' | 'reason'> & {
  readonly expiresAt?: Instant
}

export type ControlIssued = {
  readonly type: 'control_issued'
  readonly at: Instant
  readonly order: ControlOrder
  /** Which operator. */
  readonly by: string
}
export type ControlSeen = {
  readonly type: 'control_seen'
  readonly at: Instant
  readonly id: ControlId
  readonly agent: AgentId
}

/** Who is addressed, and what it needs to know of itself for that. */
export type Addressed = { readonly agent: AgentId; readonly owner: OwnerId }

export function leverOf({ type }: ControlAction): Lever {
  return type === 'publishing' || type === 'canary' ? type : 'running'
}

export function isFor(to: Addressee, { agent, owner }: Addressed): boolean {
  switch (to.kind) {
    case 'all':
      return true
    case 'owner':
      return to.owner === owner
    case 'agent':
      return to.agent === agent
  }
}

export type IssueState = {
  /** The order that was given under the same id, if one was. */
  readonly known: ControlOrder | undefined
  /** The highest sequence number so far; 0 before the first. */
  readonly last: number
  /** How many agents it would be for. */
  readonly addressed: number
}
/** Strongest first. */
export type IssueRefusal = 'key_conflict' | 'deadline_too_soon' | 'expiry_too_far' | 'agent_unknown'

/**
 * The number is the time where that has moved on, so that it rises also on a hub that lost its
 * latest orders, or all of them, with its database.
 */
export function decideIssue(
  { known, last, addressed }: IssueState,
  asked: { readonly wanted: ControlWanted; readonly key: KeyId; readonly by: string },
  now: Instant,
): Decision<ControlIssued, IssueRefusal> {
  const { wanted, key, by } = asked
  if (known !== undefined) return isSame(known, wanted) ? accept() : refuse('key_conflict')
  const { expiresAt = now + LIMITS.controlDefaultMs, ...said } = wanted
  if (expiresAt <= now) return refuse('deadline_too_soon')
  if (expiresAt > now + LIMITS.controlMs) {
    return refuse('expiry_too_far', { figures: { most_seconds: LIMITS.controlMs / 1_000 } })
  }
  // A misspelt name is found out now, not when nobody has obeyed. All may well be none yet.
  if (addressed === 0 && wanted.to.kind !== 'all') return refuse('agent_unknown')
  const sequence = Math.max(last + 1, now)
  const order: ControlOrder = { ...said, issuedAt: now, expiresAt, sequence, key }
  return accept({ type: 'control_issued', at: now, order, by })
}

/** An order that is asked for again need not repeat when it ends. */
function isSame(known: ControlOrder, wanted: ControlWanted): boolean {
  const { expiresAt = known.expiresAt } = wanted
  return (
    nameOf(known.to) === nameOf(wanted.to) &&
    sameAction(known.action, wanted.action) &&
    known.reason === wanted.reason &&
    known.expiresAt === expiresAt
  )
}

function sameAction(one: ControlAction, other: ControlAction): boolean {
  if (one.type === 'publishing') return other.type === one.type && other.on === one.on
  if (one.type === 'canary') return other.type === one.type && other.share === one.share
  return one.type === other.type
}

function nameOf(to: Addressee): string {
  switch (to.kind) {
    case 'all':
      return 'all'
    case 'owner':
      return `owner:${to.owner}`
    case 'agent':
      return `agent:${to.agent}`
  }
}

/** An agent says that it has obeyed. Of orders for others it knows nothing. */
export function decideSee(
  order: ControlOrder | undefined,
  addressed: Addressed,
  now: Instant,
): Decision<ControlSeen, 'order_unknown'> {
  if (order === undefined || !isFor(order.to, addressed)) return refuse('order_unknown')
  return accept({ type: 'control_seen', at: now, id: order.id, agent: addressed.agent })
}

/** What holds for one agent now: of each lever the latest, if it has not expired (O2, O3). */
export function ordersFor(
  addressed: Addressed,
  orders: readonly ControlOrder[],
  now: Instant,
): readonly ControlOrder[] {
  const latest = new Map<Lever, ControlOrder>()
  for (const order of orders) {
    if (!isFor(order.to, addressed)) continue
    const lever = leverOf(order.action)
    if (order.sequence > (latest.get(lever)?.sequence ?? 0)) latest.set(lever, order)
  }
  return [...latest.values()].filter((each) => each.expiresAt > now).sort(bySequence)
}

/**
 * What holds for anybody now. An order is left out when a later one on its lever, expired or not,
 * went to everybody whom it was for.
 */
export function ordersInForce(
  orders: readonly ControlOrder[],
  ownerOf: (agent: AgentId) => OwnerId | undefined,
  now: Instant,
): readonly ControlOrder[] {
  const latest = new Map<string, number>()
  const place = (order: ControlOrder, to: Addressee) => `${leverOf(order.action)} ${nameOf(to)}`
  for (const order of orders) {
    const at = place(order, order.to)
    latest.set(at, Math.max(order.sequence, latest.get(at) ?? 0))
  }
  const isReplaced = (order: ControlOrder) =>
    coversOf(order.to, ownerOf).some((to) => (latest.get(place(order, to)) ?? 0) > order.sequence)
  return orders.filter((each) => each.expiresAt > now && !isReplaced(each)).sort(bySequence)
}

/** Everything that reaches all of these too, themselves included. */
function coversOf(
  to: Addressee,
  ownerOf: (agent: AgentId) => OwnerId | undefined,
): readonly Addressee[] {
  if (to.kind === 'all') return [to]
  if (to.kind === 'owner') return [to, { kind: 'all' }]
  const owner = ownerOf(to.agent)
  return [to, { kind: 'all' }, ...(owner === undefined ? [] : [{ kind: 'owner', owner } as const])]
}

const bySequence = (one: ControlOrder, other: ControlOrder) => one.sequence - other.sequence

/** An agent, and the latest order that it obeyed on each lever, expired or not. */
export type Obedience = Addressed & {
  readonly held: Readonly<Partial<Record<Lever, ControlOrder>>>
}

export type OrderObeyed = {
  readonly type: 'order_obeyed'
  readonly at: Instant
  readonly order: ControlOrder
}

/** Strongest first: when several apply, the first is the one that is logged. */
export type ObeyRefusal =
  | 'signature_invalid'
  | 'order_misaddressed'
  | 'message_early'
  | 'message_expired'
  | 'expiry_too_far'
  | 'message_outdated'

export function openObedience({ agent, owner }: Addressed): Obedience {
  return { agent, owner, held: {} }
}

/** `signedBy` is the key whose signature was verified; without one that fits, nothing is obeyed. */
export function decideObey(
  state: Obedience,
  { order, signedBy }: { readonly order: ControlOrder; readonly signedBy: KeyId | undefined },
  { hubKey, now }: { readonly hubKey: KeyId; readonly now: Instant },
): Decision<OrderObeyed, ObeyRefusal> {
  if (signedBy !== hubKey || order.key !== hubKey) return refuse('signature_invalid')
  if (!isFor(order.to, state)) return refuse('order_misaddressed')
  if (order.issuedAt > now + LIMITS.skewMs) {
    return refuse('message_early', { retryAt: order.issuedAt })
  }
  if (order.expiresAt <= now) return refuse('message_expired')
  if (order.expiresAt - order.issuedAt > LIMITS.controlMs) return refuse('expiry_too_far')
  const held = state.held[leverOf(order.action)]
  if (held === undefined || order.sequence > held.sequence) {
    return accept({ type: 'order_obeyed', at: now, order })
  }
  return held.id === order.id ? accept() : refuse('message_outdated')
}

export function applyObeyed(state: Obedience, { order }: OrderObeyed): Obedience {
  return { ...state, held: { ...state.held, [leverOf(order.action)]: order } }
}

/** What the orders that hold make of an agent; absent is what nobody ordered. */
export type Steering = {
  readonly running?: 'pause' | 'resume' | 'drain'
  readonly publishing?: boolean
  readonly canaryShare?: number
}

export function steeringOf({ held }: Obedience, now: Instant): Steering {
  const inTime = Object.values(held).filter((each) => each.expiresAt > now)
  return Object.assign({}, ...inTime.map(({ action }) => steeringBy(action)))
}

function steeringBy(action: ControlAction): Steering {
  if (action.type === 'publishing') return { publishing: action.on }
  if (action.type === 'canary') return { canaryShare: action.share }
  return { running: action.type }
}

/** When `steeringOf` next changes by itself. */
export function nextExpiryAt({ held }: Obedience, now: Instant): Instant | undefined {
  const ends = Object.values(held).flatMap((each) => (each.expiresAt > now ? each.expiresAt : []))
  return ends.length === 0 ? undefined : Math.min(...ends)
}

/**
 * What the lifecycle is told when the steering changes. The lifecycle still decides: one that is
 * stopped stays so. A pause or drain that ends resumes only what stands as it was ordered.
 */
export function conditionCommands(
  before: Steering,
  after: Steering,
  condition: ConditionName,
): readonly ConditionCommand[] {
  if (before.running === after.running) return []
  if (after.running === undefined) {
    const ordered = before.running === 'pause' ? 'paused' : 'draining'
    return before.running !== 'resume' && condition === ordered ? [{ type: 'resume' }] : []
  }
  // Nobody goes from draining to paused in one step.
  const detour = after.running === 'pause' && condition === 'draining'
  return [...(detour ? [{ type: 'resume' } as const] : []), { type: after.running }]
}

/** What an order says to the roll-out when it is obeyed; once, for trouble may move it (O4). */
export function rolloutCommandOf(action: ControlAction): RolloutCommand | undefined {
  if (action.type === 'publishing') return action.on ? 'switch_on' : 'switch_off'
  return action.type === 'canary' && action.share >= 1 ? 'open_to_everybody' : undefined
}

/**
 * Whether this agent publishes: the roll-out lets it, and no order keeps it from it. A share below
 * one also narrows a roll-out that is open to everybody; a share of one widens nothing by itself.
 * `digest` is that of the agent's name, `share` the canary's by the settings.
 */
export function mayPublishUnder(
  { publishing = true, canaryShare = 1 }: Steering,
  rollout: Rollout,
  { digest, share }: { readonly digest: Digest; readonly share?: number },
): boolean {
  if (!publishing) return false
  if (canaryShare >= 1) return mayPublish(rollout, digest, share)
  const stage = rollout.stage === 'everybody' ? 'canary' : rollout.stage
  return mayPublish({ ...rollout, stage }, digest, canaryShare)
}
