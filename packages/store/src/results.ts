/**
 * Results of work, and their content for as long as it is kept.
 *
 *   Y1  A result and its fact are written together, or neither. Whoever comes second finds the
 *       first (E1).
 *   Y2  What a result owes to the books stays noted with it until it is done, so that a process
 *       that dies in between leaves it to the next look.
 *   Y3  Deleting takes the content and nothing else: the same result again is still the same.
 */
import type {
  AgentId,
  CorrelationId,
  Digest,
  HoldId,
  Instant,
  OwnerId,
  TaskId,
  TransferId,
  WorkId,
} from '@chimera/domain/ids'
import type { End, EndReported, Result, ResultRecorded } from '@chimera/domain/work/result'
import type { Database } from './engine/database.ts'
import { appendFacts } from './facts/append.ts'

export type KeptResult = Result & {
  /** Absent when it was deleted. */
  readonly report?: EndReported
  /** When the books are next asked for it. */
  readonly settleAt?: Instant
}

export type ResultName = { readonly agent: AgentId; readonly work: WorkId }

export type ResultQuery = {
  readonly agent: AgentId
  readonly work?: WorkId
  readonly task?: TaskId
  /** Only those that this owner's agents gave or asked for. */
  readonly party?: OwnerId
  readonly before?: { readonly recordedAt: Instant; readonly work: WorkId }
  readonly limit: number
}

export type Results = {
  readonly find: (name: ResultName) => Promise<KeptResult | undefined>
  /** Answers whether it was the first under its name. */
  readonly record: (result: KeptResult, fact: ResultRecorded) => Promise<boolean>
  /** With their content, the latest first. */
  readonly list: (query: ResultQuery) => Promise<readonly KeptResult[]>
  /** Which hold it is about, and when the books are asked (again); never, when that is left out. */
  readonly owe: (
    name: ResultName,
    owed: { readonly hold?: HoldId; readonly settleAt?: Instant },
  ) => Promise<void>
  readonly unsettled: (now: Instant, limit: number) => Promise<readonly KeptResult[]>
  readonly deleteContent: (name: ResultName) => Promise<void>
  /** Of what was recorded before; answers how many. */
  readonly deleteContentBefore: (at: Instant) => Promise<number>
}

export type ResultRow = {
  readonly agent: AgentId
  readonly work: WorkId
  readonly task: TaskId
  readonly owner: OwnerId
  readonly requester: OwnerId | null
  readonly how: End
  readonly ended_at: Instant
  readonly recorded_at: Instant
  readonly content: Digest
  readonly output: Digest | null
  readonly correlation: CorrelationId
  readonly transfer: TransferId
  readonly hold: HoldId | null
  readonly settle_at: Instant | null
  readonly report: EndReported | null
}

const INSERT = `
  INSERT INTO results SELECT * FROM json_populate_record(NULL::results, $1::json)
  ON CONFLICT DO NOTHING RETURNING agent`

const LIST = `
  SELECT * FROM results
  WHERE agent = $1 AND report IS NOT NULL
    AND ($2::text IS NULL OR work = $2) AND ($3::text IS NULL OR task = $3)
    AND ($4::text IS NULL OR owner = $4 OR requester = $4)
    AND ($5::bigint IS NULL OR (recorded_at, work) < ($5, $6))
  ORDER BY recorded_at DESC, work DESC LIMIT $7`

export function createResults({ database }: { readonly database: Database }): Results {
  return {
    async find({ agent, work }) {
      const rows = await database.query<ResultRow>(
        'SELECT * FROM results WHERE agent = $1 AND work = $2',
        [agent, work],
      )
      return rows.map(resultOfRow)[0]
    },

    record: (result, fact) =>
      database.transaction(async (tx) => {
        const made = await tx.query(INSERT, [JSON.stringify(rowOfResult(result))])
        if (made.length === 0) return false
        const { recordedAt, correlation } = result
        await appendFacts(tx, [{ fact, recordedAt, correlation }])
        return true
      }),

    async list({ agent, work, task, party, before, limit }) {
      const rows = await database.query<ResultRow>(LIST, [
        agent,
        work ?? null,
        task ?? null,
        party ?? null,
        before?.recordedAt ?? null,
        before?.work ?? null,
        limit,
      ])
      return rows.map(resultOfRow)
    },

    async owe({ agent, work }, { hold, settleAt }) {
      await database.query(
        `UPDATE results SET settle_at = $3, hold = coalesce($4, hold)
         WHERE agent = $1 AND work = $2`,
        [agent, work, settleAt ?? null, hold ?? null],
      )
    },

    async unsettled(now, limit) {
      const rows = await database.query<ResultRow>(
        'SELECT * FROM results WHERE settle_at <= $1 ORDER BY settle_at LIMIT $2',
        [now, limit],
      )
      return rows.map(resultOfRow)
    },

    async deleteContent({ agent, work }) {
      await database.query('UPDATE results SET report = NULL WHERE agent = $1 AND work = $2', [
        agent,
        work,
      ])
    },

    async deleteContentBefore(at) {
      const rows = await database.query<{ count: number }>(
        `WITH gone AS (
           UPDATE results SET report = NULL WHERE report IS NOT NULL AND recorded_at < $1
           RETURNING agent)
         SELECT count(*) AS count FROM gone`,
        [at],
      )
      return rows[0]?.count ?? 0
    },
  }
}

export function resultOfRow(row: ResultRow): KeptResult {
  return {
    agent: row.agent,
    work: row.work,
    task: row.task,
    owner: row.owner,
    how: row.how,
    endedAt: row.ended_at,
    recordedAt: row.recorded_at,
    content: row.content,
    correlation: row.correlation,
    transfer: row.transfer,
    ...(row.requester === null ? {} : { requester: row.requester }),
    ...(row.output === null ? {} : { output: row.output }),
    ...(row.hold === null ? {} : { hold: row.hold }),
    ...(row.settle_at === null ? {} : { settleAt: row.settle_at }),
    ...(row.report === null ? {} : { report: row.report }),
  }
}

function rowOfResult(result: KeptResult): ResultRow {
  return {
    agent: result.agent,
    work: result.work,
    task: result.task,
    owner: result.owner,
    requester: result.requester ?? null,
    how: result.how,
    ended_at: result.endedAt,
    recorded_at: result.recordedAt,
    content: result.content,
    output: result.output ?? null,
    correlation: result.correlation,
    transfer: result.transfer,
    hold: result.hold ?? null,
    settle_at: result.settleAt ?? null,
    report: result.report ?? null,
  }
}
