/**
 * Processes that are killed in the middle of load, ten seeded times on each engine: what was
 * acknowledged is there, nothing is half there, and the books balance (CH-9, P-3, P-10).
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { readyBundle, testProgram } from '@chimera/tools/bundle'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { openDatabase } from '../src/engine/open.ts'
import { createDirectories } from './embedded.ts'
import { createHands } from './hands.ts'
import { type PostgresServer, startPostgres } from './postgres-server.ts'
import { proveAcknowledged } from './proof.ts'

// Who ends soon never earns back what it costs to optimise the embedded database.
const SHORT_LIVED = '--liftoff-only'
const SEED = Number(process.env.SEED ?? 1)

type Run = {
  readonly address: string
  readonly seed: number
  /** What the processes before had acknowledged. */
  readonly acknowledged: readonly string[]
  readonly answers: number
}

/** Runs until so many answers have come, and is killed. Answers what it had acknowledged. */
async function hammerUntil({ address, seed, acknowledged, answers }: Run) {
  const script = await readyBundle(testProgram(new URL('./hammer.ts', import.meta.url)))
  const child = spawn(process.execPath, [SHORT_LIVED, script, address, `${seed}`], {
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const errors: string[] = []
  child.stderr.on('data', (text) => errors.push(String(text)))
  const ended = new Promise<NodeJS.Signals | null>((resolve) => {
    child.on('close', (_, signal) => resolve(signal))
  })
  child.stdin.end(acknowledged.join('\n'))
  const lines: string[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line)
    if (lines.length === answers) child.kill('SIGKILL')
  }
  assert.equal(await ended, 'SIGKILL', errors.join(''))
  return lines
}

type Rounds = { readonly address: string; readonly firstSeed: number; readonly rounds: number }

/** Each process proves what the ones before it were killed over; the last is proven here. */
async function crash({ address, firstSeed, rounds }: Rounds): Promise<void> {
  const { chance } = createHands(firstSeed + 4_711)
  const acknowledged: string[] = []
  for (let round = 0; round < rounds; round += 1) {
    const answers = 20 + chance.below(150)
    const lines = await hammerUntil({ address, seed: firstSeed + round, acknowledged, answers })
    acknowledged.push(...lines)
  }
  assert.ok(acknowledged.length >= rounds * 20)
  const database = await openDatabase(address)
  await proveAcknowledged(database, acknowledged)
  await database.close()
}

describe(`killed in the middle of load (SEED=${SEED})`, { timeout: 300_000 }, () => {
  const directories = createDirectories()
  let server: PostgresServer | undefined

  beforeAll(async () => {
    server = await startPostgres()
  }, 120_000)
  afterAll(async () => {
    await server?.stop()
    await directories.removeAll()
  }, 60_000)

  test('CH-9 P-4 P-10 ten times: the embedded database loses nothing acknowledged', async () => {
    const address = `pglite:${await directories.newDirectory()}`
    await crash({ address, firstSeed: SEED, rounds: 10 })
  })

  test('CH-9 P-4 P-10 ten times: PostgreSQL loses nothing acknowledged', async () => {
    const address = await server?.newAddress()
    assert.ok(address)
    await crash({ address, firstSeed: SEED, rounds: 10 })
  })
})
