/**
 * Processes that are killed in the middle of load, ten seeded times on each engine: what was
 * acknowledged is there, nothing is half there, and the books balance (CH-9, P-3, P-10).
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { HoldId, TransferId } from '@chimera/domain/ids'
import { foldFacts, type Hold, type MoneyFact, type Movement } from '@chimera/domain/money/ledger'
import { afterAll, beforeAll, describe, test } from 'vitest'
import type { Database } from '../src/engine/database.ts'
import { openDatabase } from '../src/engine/open.ts'
import { type HoldRow, holdOfRow, type MovementRow, movementOfRow } from '../src/ledger/rows.ts'
import { proveBooks } from './books.ts'
import { createDirectories } from './embedded.ts'
import { createHands } from './hands.ts'
import { type PostgresServer, startPostgres } from './postgres-server.ts'

const SEED = Number(process.env.SEED ?? 1)

/** Runs until so many answers have come, and is killed. Answers what it had acknowledged. */
async function hammerUntil(address: string, seed: number, answers: number) {
  const script = fileURLToPath(new URL('./hammer.ts', import.meta.url))
  const flags = ['--import', 'tsx', '--conditions=chimera-source']
  const child = spawn(process.execPath, [...flags, script, address, `${seed}`], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const errors: string[] = []
  child.stderr.on('data', (text) => errors.push(String(text)))
  const ended = new Promise<NodeJS.Signals | null>((resolve) => {
    child.on('close', (_, signal) => resolve(signal))
  })
  const lines: string[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line)
    if (lines.length === answers) child.kill('SIGKILL')
  }
  assert.equal(await ended, 'SIGKILL', errors.join(''))
  return lines
}

type Rows = {
  readonly holds: ReadonlyMap<HoldId, Hold>
  readonly movements: ReadonlyMap<TransferId, Movement>
}

async function readRows(database: Database): Promise<Rows> {
  const holds = (await database.query<HoldRow>('SELECT * FROM holds', [])).map(holdOfRow)
  const rows = await database.query<MovementRow>('SELECT * FROM movements', [])
  return {
    holds: new Map(holds.map((each) => [each.id, each])),
    movements: new Map(rows.map(movementOfRow).map((each) => [each.transfer, each])),
  }
}

/** A line is `<what>:<id> <answer>`; only whole lines that say that something happened count. */
function checkAcknowledged(line: string, { holds, movements }: Rows): void {
  const [, what, id = '', answer] = /^(\w+):(\S+) (\w+)$/.exec(line) ?? []
  const hold = holds.get(id as HoldId)
  const done = {
    pay: answer === 'credits_transferred' && movements.has(id as TransferId),
    hold: answer === 'credits_held' && hold !== undefined,
    confirm: answer === 'hold_confirmed' && hold?.priceCents !== undefined,
    capture: answer === 'hold_captured' && hold?.stage === 'captured',
    giveup: answer === 'hold_released' && hold?.stage === 'released',
  }
  const refused = answer === 'funds_short'
  assert.ok(refused || Object.entries(done).some(([name, is]) => name === what && is), line)
}

const sorted = <Row>(rows: ReadonlyMap<string, Row>) =>
  [...rows].sort(([one], [other]) => (one < other ? -1 : 1))

async function checkAll(database: Database, acknowledged: readonly string[]): Promise<void> {
  const trail = await proveBooks(database)
  const rows = await readRows(database)
  for (const line of acknowledged) checkAcknowledged(line, rows)
  // Every row is what its facts make of it, and no fact is without its rows.
  const folded = foldFacts(trail.map(({ fact }) => fact as MoneyFact))
  assert.deepEqual(sorted(rows.holds), sorted(folded.holds))
  assert.deepEqual(sorted(rows.movements), sorted(folded.movements))
  const answers = await database.query<{ answer: string }>('SELECT answer FROM answers', [])
  const known = new Set(answers.map(({ answer }) => answer))
  for (const line of acknowledged) assert.ok(known.has(line.split(' ')[0] ?? ''), line)
}

type Rounds = { readonly address: string; readonly firstSeed: number; readonly rounds: number }

async function crash(
  { address, firstSeed, rounds }: Rounds,
  settled: (database: Database) => Promise<void> = async () => undefined,
): Promise<void> {
  const { chance } = createHands(firstSeed + 4_711)
  const acknowledged: string[] = []
  for (let round = 0; round < rounds; round += 1) {
    const answers = 20 + chance.below(150)
    acknowledged.push(...(await hammerUntil(address, firstSeed + round, answers)))
    const database = await openDatabase(address)
    await settled(database)
    await checkAll(database, acknowledged)
    await database.close()
  }
  assert.ok(acknowledged.length >= rounds * 20)
}

/** The server may still be at the last transaction of the one that was killed. */
async function untilAlone(database: Database): Promise<void> {
  for (let others = 1; others > 0; ) {
    const [row] = await database.query<{ count: number }>(
      `SELECT count(*) AS count FROM pg_stat_activity
       WHERE datname = current_database() AND backend_type = 'client backend'
         AND pid <> pg_backend_pid()`,
      [],
    )
    others = row?.count ?? 0
  }
}

describe.concurrent(`killed in the middle of load (SEED=${SEED})`, { timeout: 180_000 }, () => {
  const directories = createDirectories()
  let server: PostgresServer | undefined

  beforeAll(async () => {
    server = await startPostgres()
  }, 120_000)
  afterAll(async () => {
    await server?.stop()
    await directories.removeAll()
  }, 60_000)

  // Two directories share the ten rounds, since most of a round is waiting for a process to start.
  for (const [half, firstSeed] of [SEED, SEED + 5].entries()) {
    test(`CH-9 P-4 P-10 the embedded database loses nothing acknowledged, ${half + 1}`, async () => {
      const address = `pglite:${await directories.newDirectory()}`
      await crash({ address, firstSeed, rounds: 5 })
    })
  }

  test('CH-9 P-4 P-10 PostgreSQL loses nothing acknowledged', async () => {
    const address = await server?.newAddress()
    assert.ok(address)
    await crash({ address, firstSeed: SEED, rounds: 10 }, untilAlone)
  })
})
