/**
 * Two hubs on one PostgreSQL and one NATS, of which one is killed while the same call comes a
 * hundred times at once over both: whatever was acknowledged is so, and it has one effect.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type NatsServer, startNats } from '@chimera/bus/testing/nats-server'
import { type PostgresServer, startPostgres } from '@chimera/store/testing/postgres-server'
import { afterAll, beforeAll, test } from 'vitest'
import { type HubProcess, startHubProcess } from './command.ts'

const TIMES = 100
// Enough that the call is under way at both, and has not ended at either.
const KILLED_AFTER = 10

type Answer = { readonly status: number; readonly body: Record<string, unknown> }

let postgres: PostgresServer
let broker: NatsServer
beforeAll(async () => {
  ;[postgres, broker] = await Promise.all([startPostgres(), startNats()])
}, 120_000)
afterAll(async () => {
  await Promise.all([postgres.stop(), broker.stop()])
}, 60_000)

async function post(hub: HubProcess, path: string, body: unknown): Promise<Answer> {
  const answer = await fetch(hub.address + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}

test('P-3 P-4 the same key a hundred times over two hubs, one killed: one effect', {
  timeout: 120_000,
}, async () => {
  const words = ['--listen', '127.0.0.1:0', '--grant', '100', '--bus', broker.address]
  const database = await postgres.newAddress()
  const start = () => startHubProcess([...words, '--database', database])
  const [left, killed] = [await start(), await start()]
  const [payer, payee] = [`payer-${randomUUID()}`, `payee-${randomUUID()}`]
  for (const owner of [payer, payee]) await post(left, '/accounts', { owner_id: owner })
  const order = {
    transfer_id: randomUUID(),
    from_owner: payer,
    to_owner: payee,
    amount: 1,
    job_id: randomUUID(),
  }
  const told: Answer[] = []
  let lost = 0
  let killing: Promise<unknown> | undefined
  const calls = Array.from({ length: TIMES }, async (_, at) => {
    try {
      told.push(await post(at % 2 === 0 ? left : killed, '/transfer', order))
    } catch {
      lost += 1
    }
    if (told.length >= KILLED_AFTER) killing ??= killed.kill()
  })
  await Promise.all(calls)
  await killing
  assert.ok(told.length >= TIMES / 2, `${lost} calls had no answer`)
  const again = await post(left, '/transfer', order)
  for (const { status, body } of [...told, again]) {
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual(body.transfer, again.body.transfer)
  }
  const answer = await fetch(`${left.address}/accounts/${payee}`)
  const { balance } = (await answer.json()) as Record<string, unknown>
  assert.equal(balance, 101)
  await left.stop()
})
