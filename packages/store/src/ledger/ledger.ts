/**
 * The ledger in front of its database: commands on money and slots in, decisions out, each
 * committed before it is answered.
 *
 *   J1  Commands that arrive together are loaded, decided and committed together. With several
 *       lanes that holds for those that name the same thing, and others go side by side.
 *   J2  Correct with any number of processes and lanes on one database: who touches the same
 *       accounts or instances waits, who loses a race begins anew. So lanes change nothing but the
 *       order of commands that came at the same time and name nothing in common.
 *   J3  What waits is bounded; beyond, the caller hears `service_unavailable` at once.
 *   J4  Repeating a command that was done finds it done (CH-8). So a batch whose commit was not
 *       answered is tried again; only if that fails too is the outcome unknown to the caller.
 *   J5  A command that the database cannot take fails alone, not with its batch (G4).
 */
import { refuse } from '@chimera/domain/decision'
import type { CorrelationId, HoldId, Instant } from '@chimera/domain/ids'
import { NO_FEE, type SettlementTerms } from '@chimera/domain/money/amount'
import { scopeKey } from '@chimera/domain/work/idempotency'
import { createBatching, type Outcome } from '../batching.ts'
import type { Database } from '../engine/database.ts'
import { type RetryHands, retrying } from '../engine/retry.ts'
import { type Failure, hasCode } from '../failure.ts'
import { readDue } from '../reservations/reading.ts'
import { isStorable } from '../storable.ts'
import { runBatch, type Submission, type Submitted } from './batch.ts'
import { namesOf } from './load.ts'

export type LedgerOptions = {
  readonly database: Database
  readonly clock: { readonly now: () => Instant; readonly sleep: RetryHands['sleep'] }
  readonly chance: { readonly fraction: () => number }
  readonly terms?: SettlementTerms
  /** Commands in one transaction; 500 by default, some 20 ms of work. */
  readonly most?: number
  /** Commands that may wait; 10 000 by default, under a second of work. */
  readonly mostWaiting?: number
  /**
   * Batches under way at once, each on a connection of its own; 1 by default. A second one uses
   * the time in which the first waits for the disk; the embedded database runs one at a time.
   */
  readonly lanes?: number
}

export type Ledger = {
  readonly submit: (submission: Submission) => Promise<Submitted>
  /** Ends holds and promises of slots whose time has come, so many at most; answers how many. */
  readonly endDue: (most?: number) => Promise<number>
  /** When everything that was submitted has been answered. */
  readonly idle: () => Promise<void>
}

// Overload is over when some batches are.
const RETRY_MS = 1_000
const MOST_DUE = 500
const TAKEN = '23505'
// After an attempt that failed, so many batches read before they lock: a guess (O2) that was wrong
// will mostly be wrong again, and reading first costs a twentieth of what the failure did.
const CAREFUL_BATCHES = 20

export function createLedger({
  database,
  clock,
  chance,
  terms = NO_FEE,
  most = 500,
  mostWaiting = 10_000,
  lanes = 1,
}: LedgerOptions): Ledger {
  const hands: RetryHands = { sleep: clock.sleep, fraction: chance.fraction }
  let careful = 0

  async function run(submissions: readonly Submission[]): Promise<readonly Outcome<Submitted>[]> {
    let unknown: Failure | undefined
    careful = Math.max(0, careful - 1)
    const also = (failure: Failure) => {
      if (failure.code === 'outcome_unknown') unknown = failure
      // Somebody else made the same account, hold or movement first: it is found next time.
      return failure.sqlState === TAKEN || isDown(failure) || failure === unknown
    }
    const attempt = async () => {
      const { alone = false } = database
      const rules = { now: clock.now, terms, guess: careful === 0, alone }
      try {
        return await database.transaction((tx) => runBatch(tx, submissions, rules))
      } catch (error) {
        careful = CAREFUL_BATCHES
        throw error
      }
    }
    try {
      return await retrying(attempt, hands, { also })
    } catch (error) {
      if (isDown(error)) return submissions.map(() => unknown ?? unavailable())
      throw error
    }
  }

  const batching = createBatching<Submission, Submitted>({
    run,
    most,
    mostWaiting,
    lanes: { count: lanes, namesOf: namesIn },
  })
  const unavailable = (): Submitted => ({
    decision: refuse('service_unavailable', { retryAt: clock.now() + RETRY_MS }),
    repeated: false,
  })

  function submit(submission: Submission): Promise<Submitted> {
    const { command, correlation, remember } = submission
    if (!isStorable([command, correlation, remember?.scope])) {
      return Promise.resolve({ decision: refuse('message_malformed'), repeated: false })
    }
    return batching.isFull() ? Promise.resolve(unavailable()) : batching.add(submission)
  }

  return {
    submit,
    async endDue(mostDue = MOST_DUE) {
      const now = clock.now()
      const most = Math.min(mostDue, MOST_DUE)
      const due = await database.query<{ id: HoldId }>(
        `SELECT id FROM holds
         WHERE stage IN ('placed', 'confirmed') AND coalesce(releases_at, lapses_at) <= $1
         ORDER BY coalesce(releases_at, lapses_at) LIMIT $2`,
        [now, most],
      )
      const promises = await readDue(database, now, most)
      // Together, so that a hold and the slots that go with it end in one transaction.
      const ended = await Promise.all([
        ...due.map(({ id }) => {
          const correlation = id as string as CorrelationId
          return submit({ command: { type: 'lapse_hold', hold: id }, correlation })
        }),
        ...promises.map(({ id, instance }) => {
          const correlation = id as string as CorrelationId
          return submit({ command: { type: 'lapse_reservations', instance }, correlation })
        }),
      ])
      return ended.filter(({ decision }) => decision.ok).length
    },
    idle: batching.idle,
  }
}

/** A key that is used twice is decided in one order too (X2). */
function namesIn({ command, remember }: Submission): readonly string[] {
  const names = namesOf(command)
  return remember === undefined ? names : [...names, `scope ${scopeKey(remember.scope)}`]
}

const isDown = (error: unknown) => hasCode(error, 'database_unreachable', 'database_busy')
