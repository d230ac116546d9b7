/**
 * What is followed live, as server-sent events: `id` is the place, `event` the topic, `data` one of
 * the messages here. What a kind of event does not have is absent.
 */
import type { AgentId, CorrelationId, OwnerId, TaskId } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import {
  isOpenTopic,
  LIVE_BEGINNING,
  LIVE_TOPICS,
  type LiveAbout,
  type LiveEntry,
  type LiveFilter,
  type LivePlace,
  type LiveTopic,
  partsOf,
} from '@chimera/domain/live'
import { type Static, Type } from 'typebox'
import { asItIs, checker, reader } from '../check.ts'
import type { Messages } from '../messages.ts'
import { queryChecker } from '../query.ts'
import {
  AnyObject,
  Credits,
  DateTime,
  OwnerName,
  readUuid,
  TraceId,
  Uuid,
  writeCents,
  writeInstant,
} from '../wire.ts'

// The chain's number, the transaction, and the post's id or a zero.
const PLACE = '^(0|[0-9]{1,15}\\.[0-9]{1,15}\\.(0|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}))$'
const Place = Type.String({
  pattern: PLACE,
  maxLength: 80,
  description: 'The id of an event, as it came; `0` is the beginning of the chain',
})
const Name = Type.String({ minLength: 1, maxLength: LIMITS.keyChars })
const Digest = Type.String({ pattern: '^[0-9a-f]{64}$' })
const Seq = Type.Integer({ minimum: 1, description: 'The place in the sealed chain' })
const Topic = Type.Enum([...LIVE_TOPICS])

export const LiveQuery = Type.Object(
  {
    topics: Type.Optional(
      Type.Array(Topic, {
        minItems: 1,
        uniqueItems: true,
        description: 'All but `audit` if nothing is said',
      }),
    ),
    agent_id: Type.Optional(Uuid),
    owner_id: Type.Optional(OwnerName),
    task_id: Type.Optional(Name),
    correlation: Type.Optional(TraceId),
    after: Type.Optional(Place),
  },
  { title: 'Live query', additionalProperties: false },
)

export const LiveEvent = Type.Object(
  {
    kind: Name,
    at: DateTime,
    seq: Type.Optional(Seq),
    correlation: Type.Optional(TraceId),
    agent_id: Type.Optional(Name),
    owner_id: Type.Optional(OwnerName),
    planner_id: Type.Optional(Name),
    payer: Type.Optional(OwnerName),
    payee: Type.Optional(OwnerName),
    instance_id: Type.Optional(Name),
    task_id: Type.Optional(Name),
    work_id: Type.Optional(Name),
    hold_id: Type.Optional(Name),
    reservation_id: Type.Optional(Name),
    transfer_id: Type.Optional(Name),
    amount: Type.Optional(Credits),
    fee: Type.Optional(Credits),
    price: Type.Optional(Credits),
    slots: Type.Optional(Type.Integer({ minimum: 0 })),
    slots_total: Type.Optional(Type.Integer({ minimum: 0 })),
    slots_free: Type.Optional(Type.Integer({ minimum: 0 })),
    state: Type.Optional(Name),
    because: Type.Optional(Name),
    how: Type.Optional(Name),
    alias: Type.Optional(Name),
    change: Type.Optional(Name),
    version: Type.Optional(Type.Integer({ minimum: 1 })),
    withheld: Type.Optional(Type.Boolean({ description: 'The rest must not be shown' })),
  },
  { title: 'Live event' },
)

export const LiveAudit = Type.Object(
  {
    kind: Name,
    at: DateTime,
    seq: Seq,
    prev: Digest,
    hash: Digest,
    recorded_at: Type.Integer({ minimum: 0, description: 'In milliseconds, as it was sealed' }),
    correlation: TraceId,
    fact: AnyObject,
  },
  { title: 'Live audit event' },
)

/** Something that was asked for cannot be told any more, or never could be. */
export const LiveGap = Type.Object(
  {
    from: Type.String({ maxLength: 80, description: 'The id that was asked for' }),
    to: Type.String({ pattern: PLACE, maxLength: 80, description: 'Whole again from here on' }),
    topics: Type.Array(Topic, { minItems: 1, description: 'What may be missing' }),
    why: Type.Enum(['not_kept', 'unknown']),
  },
  { title: 'Live gap' },
)

/** The last event of a stream that the hub ends. */
export const LiveCut = Type.Object(
  {
    why: Type.Enum(['slow', 'stopping', 'time', 'revoked', 'failed']),
    after: Type.String({ pattern: PLACE, maxLength: 80, description: 'To resume with' }),
  },
  { title: 'Live cut' },
)

export type LiveAsked = {
  readonly topics?: readonly LiveTopic[]
  readonly filter: LiveFilter
  readonly after?: LivePlace
}

const EVENT_ABSENT = '0'

export const writeLivePlace = ({ seq, tx, event }: LivePlace): string =>
  `${seq}.${tx}.${event === '' ? EVENT_ABSENT : event}`

const IS_PLACE = new RegExp(PLACE)

/** Undefined for what no hub has ever given as an id. */
export function readLivePlace(text: string): LivePlace | undefined {
  if (!IS_PLACE.test(text)) return undefined
  const [seq = '', tx = '', event = ''] = text.split('.')
  if (tx === '') return LIVE_BEGINNING
  return { seq: Number(seq), tx: Number(tx), event: event === EVENT_ABSENT ? '' : event }
}

export const readLiveQuery = reader(queryChecker(LiveQuery), (query): LiveAsked => {
  const after = query.after === undefined ? undefined : readLivePlace(query.after)
  return {
    filter: {
      ...(query.agent_id !== undefined && { agent: readUuid<AgentId>(query.agent_id) }),
      ...(query.owner_id !== undefined && { owner: query.owner_id as OwnerId }),
      ...(query.task_id !== undefined && { task: query.task_id as TaskId }),
      ...(query.correlation !== undefined && {
        correlation: query.correlation as CorrelationId,
      }),
    },
    ...(query.topics && { topics: query.topics }),
    ...(after && { after }),
  }
})

export function encodeLiveAudit({ sealed, about }: Told): Static<typeof LiveAudit> | undefined {
  if (sealed === undefined) return undefined
  const { seq, prev, hash, recordedAt, correlation, fact } = sealed
  return {
    kind: about.kind,
    at: writeInstant(about.at),
    seq,
    prev,
    hash,
    recorded_at: recordedAt,
    correlation,
    fact: fact as Record<string, unknown>,
  }
}

type Told = Pick<LiveEntry, 'sealed' | 'post'> & { readonly about: LiveAbout }

/** Under an open topic only what is public anyway. */
export function encodeLiveEvent(told: Told, topic: LiveTopic): Static<typeof LiveEvent> {
  const { sealed, post, about } = told
  const { kind, at, agent, owner, planner, payer, payee, task } = about
  const shown = {
    kind,
    at: writeInstant(at),
    ...(sealed && { seq: sealed.seq }),
    ...(agent !== undefined && { agent_id: agent }),
    ...(owner !== undefined && { owner_id: owner }),
    ...(post && {
      instance_id: post.instance,
      state: post.availability,
      slots_total: post.slotsTotal,
      slots_free: post.slotsFree,
    }),
    ...wordsOf(sealed?.fact, OPEN_WORDS),
  }
  if (isOpenTopic(topic)) return shown
  return {
    ...shown,
    ...(sealed && { correlation: sealed.correlation }),
    ...(planner !== undefined && { planner_id: planner }),
    ...(payer !== undefined && { payer }),
    ...(payee !== undefined && { payee }),
    ...(task !== undefined && { task_id: task }),
    ...wordsOf(sealed?.fact, CLOSED_WORDS),
    ...amountsOf(sealed?.fact),
  }
}

/** In place of an event that the guard has stopped: that there was one, and where. */
export function encodeLiveWithheld({ sealed, about }: Told): Static<typeof LiveEvent> {
  const where = sealed === undefined ? {} : { seq: sealed.seq }
  return { kind: about.kind, at: writeInstant(about.at), ...where, withheld: true }
}

type Parts = ReturnType<typeof partsOf>
type Words = readonly (readonly [
  name: keyof Static<typeof LiveEvent>,
  in_: (parts: Parts) => unknown,
])[]

const OPEN_WORDS: Words = [
  ['because', ({ whole }) => whole.because],
  ['alias', ({ whole }) => whole.alias],
  ['change', ({ change }) => change.type],
]
const CLOSED_WORDS: Words = [
  ['how', ({ whole }) => whole.how],
  ['work_id', ({ whole, seat }) => whole.work ?? seat[1]?.work],
  [
    'hold_id',
    ({ whole, money, seat }) => firstText(money[1]?.id, whole.hold, seat[0]?.hold, seat[1]?.hold),
  ],
  ['reservation_id', ({ seat }) => seat[0]?.id],
  [
    'transfer_id',
    ({ money }) => firstText(money[0]?.transfer, money[2]?.transfer, money[3]?.transfer),
  ],
  ['instance_id', ({ whole }) => whole.instance],
]

const firstText = (...values: readonly unknown[]) => values.find((each) => typeof each === 'string')

/** Facts of another version may have anything in these places. */
function wordsOf(fact: unknown, words: Words): Record<string, string> {
  const parts = partsOf(fact)
  const found = words.flatMap(([name, pick]): [string, string][] => {
    const value = pick(parts)
    return typeof value === 'string' && value !== '' ? [[name, value]] : []
  })
  return Object.fromEntries(found)
}

function amountsOf(fact: unknown) {
  const { whole, money, seat, record } = partsOf(fact)
  const amount = money.map((each) => each.amountCents).find(isCount)
  const fee = money[0]?.feeCents
  const slots = seat.map((each) => each.slots).find(isCount)
  return {
    ...(isCount(amount) && { amount: writeCents(amount) }),
    ...(isCount(fee) && fee > 0 && { fee: writeCents(fee) }),
    ...(isCount(whole.priceCents) && { price: writeCents(whole.priceCents) }),
    ...(isCount(slots) && { slots }),
    ...(isCount(record.version) && { version: record.version }),
  }
}

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0

export const encodeLiveGap = (gap: {
  readonly from: string
  readonly to: LivePlace
  readonly topics: readonly LiveTopic[]
  readonly why: 'not_kept' | 'unknown'
}): Static<typeof LiveGap> => ({ ...gap, topics: [...gap.topics], to: writeLivePlace(gap.to) })

export type LiveEnd = Static<typeof LiveCut>['why']

export const encodeLiveCut = (why: LiveEnd, after: LivePlace): Static<typeof LiveCut> => ({
  why,
  after: writeLivePlace(after),
})

/** One event as it goes over the wire. JSON has no line ends in it, so the data is one line. */
export function writeLiveFrame(event: {
  readonly id?: LivePlace
  readonly event: string
  readonly data: object
}): string {
  const id = event.id === undefined ? '' : `id: ${writeLivePlace(event.id)}\n`
  return `${id}event: ${event.event}\ndata: ${JSON.stringify(event.data)}\n\n`
}

/** No event: says that the stream is alive, and how far it has come. */
export const writeLiveBeat = (place: LivePlace): string =>
  `: alive\nid: ${writeLivePlace(place)}\n\n`

export const LIVE_MESSAGES = {
  'live-query': { schema: LiveQuery, read: readLiveQuery },
  'live-event': { schema: LiveEvent, read: asItIs(checker(LiveEvent)) },
  'live-audit': { schema: LiveAudit, read: asItIs(checker(LiveAudit)) },
  'live-gap': { schema: LiveGap, read: asItIs(checker(LiveGap)) },
  'live-cut': { schema: LiveCut, read: asItIs(checker(LiveCut)) },
} satisfies Messages
