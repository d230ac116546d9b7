/**
 * What followers hear: sealed facts and presence posts in one order, by topic, each once.
 *
 *   F1  The table says which topics a kind of fact belongs to. One that it does not know, of a
 *       newer version perhaps, is still told to whoever audits.
 *   F2  A follower hears each event once: whole under `audit`, else under the first of the event's
 *       topics that it asked for and may hear.
 *   F3  `presence` and `trust` are told to whoever may read: of them only what is public anyway,
 *       and filters see no more than that, or asking would tell the rest. `work` and `ledger` are
 *       told to the parties, `audit` to operators.
 *   F4  A place names how far both logs were read. Places along one reading only rise.
 */
import type { AgentFact } from './agent/agent.ts'
import type { AliasHeld } from './agent/alias.ts'
import type { RecordUpdated } from './agent/record.ts'
import type { Sealed } from './audit.ts'
import type { AgentId, CorrelationId, InstanceId, Instant, OwnerId, TaskId } from './ids.ts'
import type { MoneyFact } from './money/ledger.ts'
import type { Availability } from './presence/presence.ts'
import type { OutcomeReported } from './trust/trail.ts'
import type { ResultRecorded } from './work/result.ts'
import type { SlotFact } from './work/room.ts'

export const LIVE_TOPICS = ['presence', 'work', 'ledger', 'trust', 'audit'] as const
export type LiveTopic = (typeof LIVE_TOPICS)[number]
type Narrow = Exclude<LiveTopic, 'audit'>

type Told =
  | MoneyFact
  | SlotFact
  | AgentFact
  | AliasHeld
  | RecordUpdated
  | ResultRecorded
  | OutcomeReported

// biome-ignore format: a table is read by its columns
const TOPICS_OF = {
  agent_registered:    ['presence'],
  agent_returned:      ['presence'],
  agent_removed:       ['presence'],
  profile_changed:     ['presence'],
  alias_claimed:       ['presence'],
  alias_held:          [],
  record_updated:      ['work'],
  slots_reserved:      ['work'],
  slots_taken:         ['work'],
  slots_freed:         ['work'],
  reservation_ended:   ['work'],
  result_recorded:     ['work'],
  account_opened:      ['ledger'],
  credits_minted:      ['ledger'],
  credits_transferred: ['ledger'],
  credits_refunded:    ['ledger'],
  credits_held:        ['ledger'],
  hold_confirmed:      ['ledger'],
  hold_captured:       ['ledger', 'trust'],
  hold_released:       ['ledger', 'trust'],
  hold_lapsed:         ['ledger'],
  outcome_reported:    ['trust'],
  key_changed:         ['trust'],
} as const satisfies Record<Told['type'], readonly Narrow[]>

const BY_KIND: ReadonlyMap<string, readonly Narrow[]> = new Map([
  ...Object.entries(TOPICS_OF),
  // Facts of the store and the hub, which the domain has no types for.
  ['hub_key_changed', ['trust']] as const,
])

const OPEN: ReadonlySet<LiveTopic> = new Set(['presence', 'trust'])
export const isOpenTopic = (topic: LiveTopic): boolean => OPEN.has(topic)

/** Facts up to `seq`; posts of transactions before `tx`, and of `tx` itself up to `event`. */
export type LivePlace = { readonly seq: number; readonly tx: number; readonly event: string }

export const LIVE_BEGINNING: LivePlace = { seq: 0, tx: 0, event: '' }

/** F4. Below zero when `a` comes first. */
export function comparePlaces(a: LivePlace, b: LivePlace): number {
  if (a.seq !== b.seq) return a.seq - b.seq
  if (a.tx !== b.tx) return a.tx - b.tx
  return a.event === b.event ? 0 : a.event < b.event ? -1 : 1
}

/** What rows beside a fact say about whom it concerns: a fact names a hold by its id alone. */
export type Kin = {
  readonly payer?: OwnerId
  readonly payee?: OwnerId
  readonly funder?: OwnerId
  readonly agent?: AgentId
  readonly agentOwner?: OwnerId
  readonly planner?: AgentId
  readonly plannerOwner?: OwnerId
  readonly task?: TaskId
}

export type PostSeen = {
  readonly agent: AgentId
  readonly owner?: OwnerId
  readonly instance: InstanceId
  readonly availability: Availability
  readonly slotsTotal: number
  readonly slotsFree: number
  readonly at: Instant
}

export type LiveEntry = { readonly place: LivePlace } & (
  | { readonly sealed: Sealed<unknown>; readonly kin: Kin; readonly post?: never }
  | { readonly post: PostSeen; readonly sealed?: never }
)

/** Whom and what an event is about, as far as each audience may know. */
export type LiveAbout = {
  readonly kind: string
  readonly at: Instant
  readonly topics: readonly Narrow[]
  /** The agent that works, comes or goes, and its owner: public. */
  readonly agent?: AgentId
  readonly owner?: OwnerId
  readonly planner?: AgentId
  readonly payer?: OwnerId
  readonly payee?: OwnerId
  /** All owners that are a party to it. */
  readonly parties: readonly OwnerId[]
  readonly task?: TaskId
  readonly correlation?: CorrelationId
}

type Fields = Readonly<Record<string, unknown>>

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {}

const textIn = <Id extends string>(name: string, ...from: readonly Fields[]): Id | undefined => {
  for (const fields of from) {
    const value = fields[name]
    if (typeof value === 'string') return value as Id
  }
  return undefined
}

/** The parts of a fact that name somebody, whatever its kind. */
export function partsOf(fact: unknown) {
  const whole = fieldsOf(fact)
  const { payment, hold, mint, refund, reservation, occupation, record, change } = whole
  return {
    whole,
    money: [payment, hold, mint, refund].map(fieldsOf),
    seat: [reservation, occupation].map(fieldsOf),
    record: fieldsOf(record),
    change: fieldsOf(change),
  }
}

export function aboutFact({ fact, recordedAt, correlation }: Sealed<unknown>, kin: Kin): LiveAbout {
  const { whole, money, seat, record } = partsOf(fact)
  const kind = textIn('type', whole) ?? 'unknown'
  const isReport = kind === 'outcome_reported'
  const topics = topicsOf(kind, whole)
  const isAgent = topics.includes('presence') || kind === 'key_changed'
  const payer = textIn<OwnerId>(isReport ? 'hirer' : 'payer', whole, ...money) ?? kin.payer
  const payee = textIn<OwnerId>('payee', ...money) ?? kin.payee
  const named = textIn<OwnerId>('owner', whole, ...money)
  const owner = named ?? kin.agentOwner
  const agent =
    textIn<AgentId>('agent', whole, ...money, record) ??
    (isAgent ? textIn<AgentId>('id', whole) : kin.agent)
  const planner =
    textIn<AgentId>('planner', ...seat) ?? textIn<AgentId>('hirer', ...money) ?? kin.planner
  const task = textIn<TaskId>('task', whole, ...money, ...seat) ?? kin.task
  const funder = textIn<OwnerId>('funder', ...money) ?? kin.funder
  const requester = textIn<OwnerId>('requester', whole)
  const all = [payer, payee, funder, owner, requester, kin.agentOwner, kin.plannerOwner]
  return {
    kind,
    at: typeof whole.at === 'number' ? whole.at : recordedAt,
    topics,
    parties: [...new Set(all.filter((each) => each !== undefined))],
    correlation,
    ...(agent !== undefined && { agent }),
    ...(owner !== undefined && { owner }),
    ...(planner !== undefined && { planner }),
    ...(payer !== undefined && { payer }),
    ...(payee !== undefined && { payee }),
    ...(task !== undefined && { task }),
  }
}

export function aboutPost({ agent, owner, at }: PostSeen): LiveAbout {
  const whose = owner === undefined ? {} : { owner }
  return { kind: 'instance_seen', at, topics: ['presence'], agent, ...whose, parties: [] }
}

/** A hold that was given back says something about its agent only if that failed (CH-12). */
function topicsOf(kind: string, { because }: Fields): readonly Narrow[] {
  const topics = BY_KIND.get(kind) ?? []
  const failed = because === 'failed' || because === 'overdue'
  return kind === 'hold_released' && !failed ? topics.filter((each) => each !== 'trust') : topics
}

export type LiveFilter = {
  readonly agent?: AgentId
  readonly owner?: OwnerId
  readonly task?: TaskId
  readonly correlation?: CorrelationId
}

export type Audience = {
  readonly topics: readonly LiveTopic[]
  /** Operators, and everybody on an open hub. */
  readonly all: boolean
  readonly owner?: OwnerId
  readonly filter: LiveFilter
}

/** F2, F3: the topic under which this audience hears the event; none if it does not. */
export function decideTopic(about: LiveAbout, isFact: boolean, audience: Audience) {
  const { topics, all, owner, filter } = audience
  if (isFact && all && topics.includes('audit') && isWanted(about, filter)) return 'audit'
  return about.topics.find((topic) => {
    if (!topics.includes(topic)) return false
    if (isOpenTopic(topic)) return isWantedOpenly(about, filter)
    const isParty = owner !== undefined && about.parties.includes(owner)
    return (all || isParty) && isWanted(about, filter)
  })
}

function isWanted(about: LiveAbout, { agent, owner, task, correlation }: LiveFilter): boolean {
  if (agent !== undefined && about.agent !== agent && about.planner !== agent) return false
  if (owner !== undefined && !about.parties.includes(owner) && about.owner !== owner) return false
  if (task !== undefined && about.task !== task) return false
  // What settles or ends work may come under an id of its own (a transfer's, a hold's); the task
  // that it belongs to is the correlation of whatever names none.
  const { correlation: own, task: works } = about
  return correlation === undefined || own === correlation || works === correlation.toString()
}

function isWantedOpenly(about: LiveAbout, filter: LiveFilter): boolean {
  const { agent, owner, task, correlation } = filter
  if (task !== undefined || correlation !== undefined) return false
  if (agent !== undefined && about.agent !== agent) return false
  return owner === undefined || about.owner === owner
}

export type LiveGap = {
  /** As it was asked for. */
  readonly from: string
  readonly to: LivePlace
  readonly topics: readonly LiveTopic[]
  readonly why: 'not_kept' | 'unknown'
}

/** Where a reader was; `place` is absent when no hub has ever given such an id. */
export type Resumed = { readonly text: string; readonly place?: LivePlace | undefined }

/**
 * Where a reader begins, and what it has missed for good (P-7). An id that lies ahead of everything
 * is of another chain, or of a copy that was cut off later: it goes on from now.
 */
export function decideResume(
  resumed: Resumed | undefined,
  { now, droppedTx }: { readonly now: LivePlace; readonly droppedTx: number },
  topics: readonly LiveTopic[],
): { readonly from: LivePlace; readonly gap?: LiveGap } {
  if (resumed === undefined) return { from: now }
  const { text, place } = resumed
  if (place === undefined || place.seq > now.seq) {
    return { from: now, gap: { from: text, to: now, topics, why: 'unknown' } }
  }
  if (!topics.includes('presence')) return { from: place }
  const lost = { from: text, topics: ['presence'] } as const
  if (place.tx > now.tx) {
    const from = { ...now, seq: place.seq }
    return { from, gap: { ...lost, to: from, why: 'unknown' } }
  }
  if (place.tx > droppedTx) return { from: place }
  const to = { seq: place.seq, tx: droppedTx + 1, event: '' }
  return { from: place, gap: { ...lost, to, why: 'not_kept' } }
}
