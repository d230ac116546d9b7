/** Who is asked often is shown a pass instead of a signature; who does not take it, a signature. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { AgentId, TaskId } from '@chimera/domain/ids'
import type { WorkAsked } from '@chimera/domain/work/work'
import { createSeededChance } from '@chimera/host/chance'
import { createClock } from '@chimera/host/clock'
import { generateKeyPair } from '@chimera/identity/keys'
import { afterAll, test } from 'vitest'
import type { HubAnswer } from '../hub/client.ts'
import { createDoor, type Place } from './door.ts'
import { createPasses } from './passes.ts'

const AGENT = '550e8400-e29b-41d4-a716-446655440000' as AgentId
const HERE = 'http://127.0.0.1:9/openclaw/v1/collaborations'
const NO: HubAnswer = { ok: false, kind: 'unanswered', code: 'network', detail: '' }

function openHub() {
  const state = { now: 1_700_000_000_000, made: 0, gives: true, key: generateKeyPair() }
  const passes = createPasses({
    hub: {
      post: async (path, body) => {
        assert.equal(path, '/v1/passes')
        assert.deepEqual(body, { agent_id: AGENT })
        state.made += 1
        if (!state.gives) return NO
        const expires_at = new Date(state.now + 300_000).toISOString()
        const token = `pass-${state.made}`
        return { ok: true, status: 201, body: { token, agent_id: AGENT, expires_at } }
      },
    },
    key: () => state.key,
    clock: { now: () => state.now },
  })
  const ask = async (url = HERE) => {
    passes.asked(AGENT, url)
    const shown = passes.at(AGENT, url)
    await new Promise((resolve) => setImmediate(resolve))
    return shown
  }
  return { state, passes, ask }
}

test('P1 the second ask gets one beside, and the third shows it until it is renewed', async () => {
  const { state, ask } = openHub()
  assert.deepEqual([await ask(), state.made], [undefined, 0])
  assert.deepEqual([await ask(), state.made], [undefined, 1])
  assert.deepEqual([await ask(), state.made], ['pass-1', 1])
  state.now += 241_000
  assert.deepEqual([await ask(), state.made], ['pass-1', 2])
  assert.equal(await ask(), 'pass-2')
  state.now += 400_000
  assert.equal(await ask(), undefined, 'an old one is not shown')
})

test('P2 it is never shown where others could read it', async () => {
  const { state, passes, ask } = openHub()
  for (let at = 0; at < 3; at += 1) await ask('http://agents.example/x')
  assert.equal(state.made, 0)
  for (let at = 0; at < 3; at += 1) await ask('https://agents.example/x')
  assert.equal(passes.at(AGENT, 'https://agents.example/x'), 'pass-1')
  assert.equal(passes.at(AGENT, 'http://agents.example/x'), undefined)
})

test('P3 P4 who refuses it, a hub that gives none, and another key mean signatures', async () => {
  const { state, passes, ask } = openHub()
  for (let at = 0; at < 3; at += 1) await ask()
  state.key = generateKeyPair()
  assert.equal(await ask(), undefined)
  passes.refused(AGENT)
  assert.deepEqual([await ask(), state.made], [undefined, 1])
  state.now += 300_000
  state.gives = false
  assert.deepEqual([await ask(), state.made], [undefined, 2])
  assert.deepEqual([await ask(), state.made], [undefined, 2], 'not at once again')
})

const seen: IncomingHttpHeaders[] = []
const taken = new Set<string>()
const server = createServer((request, response) => {
  seen.push(request.headers)
  const { authorization } = request.headers
  const isTaken = authorization === undefined || taken.has(authorization)
  response.writeHead(isTaken ? 503 : 401, { 'content-type': 'application/json' })
  response.end('{"code":"x","message":"y","retryable":true}')
})
afterAll(() => server.close())

test('D2 a door shows the pass alone, and signs at once where it is not taken', async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { passes, ask } = openHub()
  const key = generateKeyPair()
  const chance = createSeededChance(1)
  const door = createDoor({
    clock: createClock(),
    chance,
    allowNet: ['127.0.0.1'],
    key: () => key,
    passes,
  })
  for (let at = 0; at < 3; at += 1) await ask()
  const place: Place = { id: AGENT, endpoint }
  const asked = { task: chance.uuid() as TaskId, correlation: chance.uuid() } as WorkAsked
  const knock = async () => {
    seen.length = 0
    await door.look(place, asked, { timeoutMs: 5_000 })
    return seen.map(({ authorization, signature }) => [authorization, signature !== undefined])
  }
  taken.add('Bearer pass-1')
  assert.deepEqual(await knock(), [['Bearer pass-1', false]])
  taken.clear()
  assert.deepEqual(await knock(), [
    ['Bearer pass-1', false],
    [undefined, true],
  ])
  assert.deepEqual(await knock(), [[undefined, true]])
  seen.length = 0
  const offered = {
    agent: AGENT,
    instance: 'i' as never,
    callback: `${endpoint}/moltbook/v1/reserve`,
  }
  await door.offer(offered, { signature: 'of the message' }, { timeoutMs: 5_000 })
  assert.deepEqual([seen[0]?.authorization, seen[0]?.signature], [undefined, undefined])
  await door.close()
})
