/**
 * Where agents keep their work, in a database: embedded, for one process, or PostgreSQL, for as
 * many instances as there are. What this gives is what `createAgent` takes:
 *
 *   createAgent({ …, ...(await openAgentStore({ database: 'postgres://…' })) })
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Instant } from '@chimera/domain/ids'
import { createKeep } from './agents/keep.ts'
import { createWriting } from './agents/writing.ts'
import { createAnswers } from './answers.ts'
import type { Database } from './engine/database.ts'
import { openDatabase } from './engine/open.ts'
import { inspectSchema, migrate, requireSchema } from './migrate.ts'

export type AgentStoreOptions = {
  /**
   * `postgres://…`; or a directory for the embedded database, which one process at a time has; or
   * `:memory:`, gone with the process.
   */
  readonly database: string
  /**
   * How long an instance that says nothing is believed to live, in milliseconds. A shorter one
   * brings the work of a killed instance to others sooner, and takes it from one that was only
   * slow. Default: 6000.
   */
  readonly leaseMs?: number
  /** Connections to PostgreSQL. Default: 10. */
  readonly connections?: number
  readonly clock?: { readonly now: () => Instant }
}

export type AgentStore = Awaited<ReturnType<typeof openAgentStore>>

const LEASE_MS = 6_000
// Some thousand rows a minute are more than an instance leaves behind.
const PURGE_MS = 10_000
const PURGE = `
  DELETE FROM agent_work WHERE (agent, scope) IN (
    SELECT agent, scope FROM agent_work WHERE stage = 'over' AND forget_at <= $1
    ORDER BY forget_at LIMIT 1000 FOR UPDATE SKIP LOCKED
  )`
const SERVER = /^postgres(ql)?:\/\//

export async function openAgentStore(options: AgentStoreOptions) {
  const { database: address, connections } = options
  const database = await openDatabase(
    addressOf(address),
    connections === undefined ? {} : { connections },
  )
  try {
    const alone = !SERVER.test(address)
    await prepare(database, alone)
    return storeOn(database, { ...options, alone })
  } catch (error) {
    await database.close()
    throw error
  }
}

type StoreOptions = Omit<AgentStoreOptions, 'database' | 'connections'> & {
  readonly alone: boolean
}

function storeOn(database: Database, { leaseMs = LEASE_MS, clock, alone }: StoreOptions) {
  const now = clock?.now ?? (() => Date.now())
  const hands = { sleep: (ms: number) => sleep(ms), fraction: () => Math.random() }
  const writing = createWriting(database, hands)
  const answers = createAnswers({ database, clock: { now, sleep: hands.sleep }, chance: hands })
  const { find, once, forgetAt } = answers
  let purgedAt = now()

  async function purge(): Promise<void> {
    if (now() < purgedAt + PURGE_MS) return
    purgedAt = now()
    await database.query(PURGE, [purgedAt])
    await answers.purge()
  }

  /** Each time in the hands of another instance. */
  const of = (agent: string) =>
    createKeep({ database, writing, agent, holder: randomUUID(), now, leaseMs, purge })
  return {
    /** For the option of the same name. */
    keep: { ...of(''), of },
    /** For the option of the same name: what `once` skills remember. */
    answers: { find, once, forgetAt, ...(alone && { alone }) },
    close: () => database.close(),
  }
}

/** Who may not change the schema can still work with one that is there. */
async function prepare(database: Database, alone: boolean): Promise<void> {
  const { pending } = await inspectSchema(database)
  if (pending.length > 0) await migrate(database, { now: Date.now() })
  await requireSchema(database)
  // Nobody else has the directory: whoever lived there has died.
  if (alone) await database.query('DELETE FROM agent_instances')
}

function addressOf(database: string): string {
  if (SERVER.test(database)) return database
  return `pglite:${database === ':memory:' ? 'memory' : database}`
}
