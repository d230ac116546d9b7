/**
 * The results of an agent, page by page (OC-23). The document defines one result; asking for those
 * that a hub keeps is ours.
 */
import type { AgentId, Instant, TaskId, WorkId } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import type { EndReported } from '@chimera/domain/work/result'
import { type Static, Type } from 'typebox'
import { asItIs, checker, reader } from '../check.ts'
import type { Messages } from '../messages.ts'
import { queryChecker } from '../query.ts'
import { readUuid, Uuid } from '../wire.ts'
import { encodeResult } from './encode.ts'
import { CollaborationResult } from './schema.ts'

/** When the last result of a page was recorded, and its collaboration. */
const CURSOR = '^\\d{1,15}\\.[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$'

export const ResultQuery = Type.Object(
  {
    collaboration_id: Type.Optional(Uuid),
    request_id: Type.Optional(Uuid),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMITS.resultsPerPage })),
    cursor: Type.Optional(
      Type.String({ maxLength: 64, pattern: CURSOR, description: '`next` of the page before' }),
    ),
  },
  { title: 'OpenClaw result query', additionalProperties: false },
)

export const ResultList = Type.Object(
  {
    results: Type.Array(CollaborationResult, {
      maxItems: LIMITS.resultsPerPage,
      description: 'The latest first, without those whose content was deleted',
    }),
    next: Type.Optional(
      Type.String({ maxLength: 64, pattern: CURSOR, description: '`cursor` of the next page' }),
    ),
  },
  { title: 'OpenClaw results of an agent' },
)
export type ResultList = Static<typeof ResultList>

export type ResultPlace = { readonly recordedAt: Instant; readonly work: WorkId }

export type ResultsSought = {
  readonly work?: WorkId
  readonly task?: TaskId
  readonly limit: number
  readonly before?: ResultPlace
}

export type ResultListed = { readonly report: EndReported; readonly recordedAt: Instant }

export const readResultQuery = reader(
  queryChecker(ResultQuery),
  ({ collaboration_id: work, request_id: task, limit, cursor }): ResultsSought => ({
    ...(work !== undefined && { work: readUuid<WorkId>(work) }),
    ...(task !== undefined && { task: readUuid<TaskId>(task) }),
    limit: limit ?? LIMITS.resultsPerPage,
    ...(cursor !== undefined && { before: placeIn(cursor) }),
  }),
)

/** A result is written as it was recorded, so that it reads the same each time. */
export function encodeResults(listed: readonly ResultListed[], next?: ResultPlace): ResultList {
  return {
    results: listed.map(({ report, recordedAt }) => encodeResult(report, recordedAt)),
    ...(next && { next: `${next.recordedAt}.${next.work}` }),
  }
}

/**
 * A result as the hub hands it on: with whom it is for, where its agent left that out. What is
 * signed stays as it was.
 */
export function nameRequester(message: object, requester: AgentId | undefined): object {
  const { requester_agent_id: named, signature }: Partial<CollaborationResult> = message
  const asItWas = named !== undefined || signature !== undefined || requester === undefined
  return asItWas ? message : { ...message, requester_agent_id: requester }
}

function placeIn(cursor: string): ResultPlace {
  const [recordedAt, work = ''] = cursor.split('.')
  return { recordedAt: Number(recordedAt), work: readUuid<WorkId>(work) }
}

export const RESULT_MESSAGES = {
  'result-query': { schema: ResultQuery, read: readResultQuery },
  'result-list': { schema: ResultList, read: asItIs(checker(ResultList)) },
} satisfies Messages
