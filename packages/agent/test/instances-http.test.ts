/** Two agents as an author starts them, with one id and one store: one agent, over HTTP. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runHub, type TestHub } from '@chimera/hub/testing/running'
import { type AgentStore, openAgentStore } from '@chimera/store/agents'
import { createDirectories } from '@chimera/store/testing/embedded'
import { afterAll, beforeAll, test } from 'vitest'
import type { Agent } from '../src/create.ts'
import { call, createSlow, request, startAgent, until } from './serving.ts'

const LEASE_MS = 800
const COLLABORATIONS = '/openclaw/v1/collaborations'
const directories = createDirectories()
const slow = createSlow()
let hub: TestHub
let store: AgentStore
let directory: string
let one: Agent
let other: Agent

beforeAll(async () => {
  hub = await runHub()
  directory = await mkdtemp(join(tmpdir(), 'chimera-instances-'))
  store = await openAgentStore({ database: await directories.newMigrated(), leaseMs: LEASE_MS })
  const { keep, answers } = store
  const shared = { hub: hub.address, directory, keep, answers, skills: [slow.skill] }
  const start = () => startAgent({ ...shared, slots: 1, drainMs: 100 })
  one = await start()
  other = await start()
})
afterAll(async () => {
  await one?.stop()
  await other?.stop()
  await store?.close()
  await hub?.stop()
  await directories.removeAll()
  await rm(directory, { recursive: true, force: true })
})

const ask = (at: Agent, body: object) => call(`${at.address()}${COLLABORATIONS}`, { body })
const look = (at: Agent, id: unknown, headers = {}) =>
  call(`${at.address()}${COLLABORATIONS}/${String(id)}`, { headers })
const work = () => request({ capability_id: 'slow_echo', input_data: { text: 'x' } })

test('P-4 asked at one, repeated, followed and waited for at the other', async () => {
  assert.equal(one.id(), other.id())
  const asked = work()
  const first = await ask(one, asked)
  assert.equal(first.status, 202, JSON.stringify(first.body))
  const again = await ask(other, asked)
  assert.deepEqual([again.status, again.body.request_id], [202, asked.request_id])
  const events = fetch(`${other.address()}${COLLABORATIONS}/${String(asked.request_id)}/events`)
  const waited = look(other, asked.request_id, { prefer: 'wait=10' })
  await slow.letGo()
  assert.deepEqual((await waited).body.output_data, { text: 'x' })
  assert.match(await (await events).text(), /event: result\n/)
})

test('OC-18 running at one, cancelled at the other', async () => {
  const asked = work()
  await ask(one, asked)
  await until(async () => (await one.work().list()).length > 0)
  const path = `${other.address()}${COLLABORATIONS}/${String(asked.request_id)}/cancel`
  const { status, body } = await call(path, { body: {} })
  assert.deepEqual([status, body.result_status], [200, 'cancelled'])
  await until(async () => slow.stopped.length === 1)
})

test('AV-5 what one was at when it stopped is done by the other', async () => {
  const asked = work()
  await ask(one, asked)
  await one.stop()
  const waited = look(other, asked.request_id, { prefer: 'wait=10' })
  await slow.letGo()
  assert.deepEqual((await waited).body.output_data, { text: 'x' })
})
