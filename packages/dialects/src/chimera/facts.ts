/**
 * The past of the live feed, page by page: what was sealed before, to whoever would have heard it.
 * The rows are those of the feed, each with the topic under which it is told.
 */
import type { Head } from '@chimera/domain/audit'
import type { AgentId, CorrelationId, Instant, OwnerId, TaskId } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import {
  LIVE_TOPICS,
  type LiveAbout,
  type LiveEntry,
  type LiveFilter,
  type LiveTopic,
} from '@chimera/domain/live'
import { type Static, Type } from 'typebox'
import { asItIs, checker, reader } from '../check.ts'
import type { Messages } from '../messages.ts'
import { queryChecker } from '../query.ts'
import { DateTime, instantOf, OwnerName, readUuid, TraceId, Uuid } from '../wire.ts'
import { encodeLiveAudit, encodeLiveEvent, LiveAudit, LiveEvent } from './live.ts'

const Topic = Type.Enum([...LIVE_TOPICS])
const Name = Type.String({ minLength: 1, maxLength: LIMITS.keyChars })
const Seq = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
const DEFAULT_LIMIT = 100

export const FactQuery = Type.Object(
  {
    topics: Type.Optional(
      Type.Array(Topic, {
        minItems: 1,
        uniqueItems: true,
        description: 'All but `audit` if nothing is said',
      }),
    ),
    kinds: Type.Optional(Type.Array(Name, { minItems: 1, maxItems: 32, uniqueItems: true })),
    agent_id: Type.Optional(Uuid),
    owner_id: Type.Optional(OwnerName),
    task_id: Type.Optional(Name),
    correlation: Type.Optional(TraceId),
    since: Type.Optional(DateTime),
    until: Type.Optional(DateTime),
    before: Type.Optional({ ...Seq, description: 'Facts before this one, the latest first' }),
    after: Type.Optional({
      ...Seq,
      minimum: 0,
      description: 'Facts after this one, the oldest first; not together with `before`',
    }),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMITS.factsPerPage })),
  },
  { title: 'Fact query', additionalProperties: false, not: { required: ['before', 'after'] } },
)

const HeadShown = Type.Object({
  seq: Type.Integer({ minimum: 0 }),
  hash: Type.Optional(Type.String({ pattern: '^[0-9a-f]{64}$' })),
})

export const FactList = Type.Object(
  {
    facts: Type.Array(
      Type.Union([
        Type.Object({ topic: Topic, ...LiveAudit.properties }),
        Type.Object({ topic: Topic, ...LiveEvent.properties }),
      ]),
    ),
    head: {
      ...HeadShown,
      description: 'How far the chain goes; its hash is for operators',
    },
    next_before: Type.Optional({
      ...Seq,
      description: 'There may be more before it; with a narrow query also behind an empty page',
    }),
    next_after: Type.Optional({ ...Seq, minimum: 0 }),
  },
  { title: 'Facts' },
)

export type FactsSought = {
  readonly topics?: readonly LiveTopic[]
  readonly kinds?: readonly string[]
  readonly filter: LiveFilter
  readonly since?: Instant
  readonly until?: Instant
  readonly limit: number
} & (
  | { readonly before?: number; readonly after?: never }
  | { readonly after: number; readonly before?: never }
)

export const readFactQuery = reader(queryChecker(FactQuery), (query): FactsSought => {
  const { topics, kinds, agent_id, owner_id, task_id, correlation, since, until } = query
  const sought = {
    filter: {
      ...(agent_id !== undefined && { agent: readUuid<AgentId>(agent_id) }),
      ...(owner_id !== undefined && { owner: owner_id as OwnerId }),
      ...(task_id !== undefined && { task: task_id as TaskId }),
      ...(correlation !== undefined && { correlation: correlation as CorrelationId }),
    },
    ...(topics && { topics }),
    ...(kinds && { kinds }),
    ...(since !== undefined && { since: instantOf(since) }),
    ...(until !== undefined && { until: instantOf(until) }),
    limit: query.limit ?? DEFAULT_LIMIT,
  }
  if (query.after !== undefined) return { ...sought, after: query.after }
  return query.before === undefined ? sought : { ...sought, before: query.before }
})

export type FactFound = Pick<LiveEntry, 'sealed' | 'post'> & {
  readonly about: LiveAbout
  readonly topic: LiveTopic
}

export type FactsFound = {
  readonly facts: readonly FactFound[]
  readonly head: { readonly seq: number; readonly hash?: Head['hash'] }
  readonly nextBefore?: number
  readonly nextAfter?: number
}

export const encodeFacts = (found: FactsFound): Static<typeof FactList> => ({
  facts: found.facts.map((each) => {
    const whole = each.topic === 'audit' ? encodeLiveAudit(each) : undefined
    return { topic: each.topic, ...(whole ?? encodeLiveEvent(each, each.topic)) }
  }),
  head: found.head,
  ...(found.nextBefore !== undefined && { next_before: found.nextBefore }),
  ...(found.nextAfter !== undefined && { next_after: found.nextAfter }),
})

export const FACT_MESSAGES = {
  'fact-query': { schema: FactQuery, read: readFactQuery },
  'fact-list': { schema: FactList, read: asItIs(checker(FactList)) },
} satisfies Messages
