/**
 * A hub that is killed while the same call comes a hundred times at once, on each engine: whatever
 * its callers were told is so afterwards, and the call has one effect, however often it is repeated
 * on the hub that follows (P-3, P-4).
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSeededChance } from '@chimera/host/chance'
import { type PostgresServer, startPostgres } from '@chimera/store/testing/postgres-server'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { chimera, type HubProcess, startHubProcess } from './command.ts'

const SEED = Number(process.env.SEED ?? 1)
const TIMES = 100
const ROUNDS = 1

type Answer = { readonly status: number; readonly body: Record<string, unknown> }
type Transfer = Readonly<Record<string, string | number>>

async function post(hub: HubProcess, path: string, body: unknown): Promise<Answer> {
  const answer = await fetch(hub.address + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}

async function balance(hub: HubProcess, owner: string): Promise<unknown> {
  const answer = await fetch(`${hub.address}/accounts/${owner}`)
  return ((await answer.json()) as Record<string, unknown>).balance
}

/** All at once; the hub is killed when so many were answered. The rest never hear of it. */
async function payAndKill(hub: HubProcess, order: Transfer, after: number): Promise<Answer[]> {
  const answered: Answer[] = []
  let killed: Promise<unknown> | undefined
  const calls = Array.from({ length: TIMES }, async () => {
    try {
      answered.push(await post(hub, '/transfer', order))
    } catch {
      return
    }
    if (answered.length >= after) killed ??= hub.kill()
  })
  await Promise.all(calls)
  await (killed ?? hub.kill())
  return answered
}

async function killInTheMiddle(words: readonly string[], seed: number): Promise<void> {
  const chance = createSeededChance(seed)
  const start = () => startHubProcess(['--listen', '127.0.0.1:0', '--grant', '100', ...words])
  const [payer, payee] = [`payer-${seed}`, `payee-${seed}`]
  let hub = await start()
  for (const owner of [payer, payee]) await post(hub, '/accounts', { owner_id: owner })

  for (let round = 1; round <= ROUNDS; round += 1) {
    const order = {
      transfer_id: randomUUID(),
      from_owner: payer,
      to_owner: payee,
      amount: 1,
      job_id: randomUUID(),
    }
    const told = await payAndKill(hub, order, Math.floor(chance.fraction() * TIMES))
    hub = await start()
    const repeated = await Promise.all(
      Array.from({ length: TIMES }, () => post(hub, '/transfer', order)),
    )
    for (const { status, body } of [...told, ...repeated]) {
      assert.equal(status, 200)
      assert.deepEqual(body.transfer, repeated[0]?.body.transfer, 'one movement, whoever asks')
    }
    assert.equal(await balance(hub, payee), 100 + round)
    assert.equal(await balance(hub, payer), 100 - round)
  }
  const home = await mkdtemp(join(tmpdir(), 'chimera-kill-'))
  const trail = join(home, 'trail.jsonl')
  await hub.stop()
  const exported = await chimera(['audit', 'export', ...words, '--out', trail])
  assert.equal(exported.status, 0, exported.err)
  const verified = await chimera(['audit', 'verify', trail])
  assert.equal(verified.status, 0, verified.err)
  await rm(home, { recursive: true, force: true })
}

describe(`killed while the same call comes a hundred times (SEED=${SEED})`, () => {
  let server: PostgresServer
  let home = ''
  beforeAll(async () => {
    server = await startPostgres()
    home = await mkdtemp(join(tmpdir(), 'chimera-kill-'))
  }, 120_000)
  afterAll(async () => {
    await server.stop()
    await rm(home, { recursive: true, force: true })
  }, 60_000)

  test('P-3 P-4 on the embedded database: one effect', { timeout: 180_000 }, () =>
    killInTheMiddle(['--data', join(home, 'data')], SEED),
  )
  test('P-3 P-4 on PostgreSQL: one effect', { timeout: 180_000 }, async () => {
    await killInTheMiddle(['--database', await server.newAddress()], SEED)
  })
})
