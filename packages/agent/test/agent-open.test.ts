/** An agent and an open hub, both real: its doors, in the words of each dialect. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readResponse, readResult } from '@chimera/dialects/openclaw'
import type { PublicKey } from '@chimera/domain/ids'
import { startReceiver } from '@chimera/hub/testing/receiving'
import { runHub, type TestHub } from '@chimera/hub/testing/running'
import { loadKeyFile } from '@chimera/identity/key-file'
import { createKeyring } from '@chimera/identity/keyring'
import { generateKeyPair } from '@chimera/identity/keys'
import { verifyMessage } from '@chimera/identity/message'
import { defineSkill, Type } from '@chimera/skill/define'
import { afterAll, beforeAll, describe, test } from 'vitest'
import type { Agent } from '../src/create.ts'
import {
  type Body,
  call,
  createSlow,
  job,
  request,
  startAgent,
  until,
  wordCount,
} from './serving.ts'

let hub: TestHub
let agent: Agent
const slow = createSlow()
const at = (path: string) => agent.address() + path
const COLLABORATIONS = '/openclaw/v1/collaborations'

beforeAll(async () => {
  hub = await runHub()
  agent = await startAgent({ hub: hub.address, skills: [wordCount, slow.skill] })
})
afterAll(async () => {
  await agent?.stop()
  await hub.stop()
})

test('twenty lines, and it is on the network', async () => {
  const { body } = await hub.get('/discover?skill=word_count')
  const [found] = body.agents as { agent_id: string; api_endpoint: string; status: string }[]
  assert.deepEqual(
    [found?.agent_id, found?.api_endpoint, found?.status],
    [agent.id(), agent.address(), 'online'],
  )
})

test('its figures are for its own machine, and not for whom a proxy brings', async () => {
  const own = await fetch(at('/metrics'))
  assert.equal(own.status, 200)
  assert.match(await own.text(), /^# HELP /m)
  for (const field of ['forwarded', 'x-forwarded-for', 'via']) {
    const { status } = await fetch(at('/metrics'), { headers: { [field]: '10.0.0.1' } })
    assert.equal(status, 404, field)
  }
})

test('at an open hub it listens on its own machine only', async () => {
  await assert.rejects(startAgent({ hub: hub.address, listen: { host: '0.0.0.0' } }), {
    code: 'options_invalid',
  })
})

describe('OpenClaw', () => {
  test('OC-10 OC-11 OC-17 OC-23 a request is accepted and done, its result signed', async () => {
    const asked = request()
    const answer = await call(at(COLLABORATIONS), { body: asked })
    assert.equal(answer.status, 202)
    const read = readResponse(answer.body)
    assert.ok(read.ok && read.value.answer === 'accepted')
    const byTask = `${at(COLLABORATIONS)}/${String(asked.request_id)}`
    const { status, body } = await call(byTask, { headers: { prefer: 'wait=10' } })
    assert.deepEqual([status, body.output_data], [200, { words: 3 }])
    assert.ok(readResult(body).ok)
    const keys = await hub.get(`/v1/keys/${agent.id()}`)
    const [{ public_key }] = keys.body.keys as [{ public_key: PublicKey }]
    assert.ok(verifyMessage(body, public_key, createKeyring()).ok)

    const byWork = `${at(COLLABORATIONS)}/${String(body.collaboration_id)}`
    assert.deepEqual((await call(byWork)).body, body, 'the same each time')
    await until(async () => {
      const kept = await hub.get(`/openclaw/v1/results/${agent.id()}`)
      return (kept.body.results as Body[]).some((each) => each.request_id === asked.request_id)
    })
  })

  test('OC-12 a retry gets its own names echoed and the same work', async () => {
    const asked = request({ idempotency_key: randomUUID() })
    const retry = { ...asked, request_id: randomUUID(), correlation_id: randomUUID() }
    const first = await call(at(COLLABORATIONS), { body: asked })
    const second = await call(at(COLLABORATIONS), { body: retry })
    assert.equal(second.body.collaboration_id, first.body.collaboration_id)
    assert.deepEqual(
      [second.body.request_id, second.body.correlation_id],
      [retry.request_id, retry.correlation_id],
    )
  })

  const refused: readonly { why: string; more: Body; status: number; code: string }[] = [
    {
      why: 'OC-21 of another major version',
      more: { protocol_version: '2.0.0' },
      status: 400,
      code: 'version_unsupported',
    },
    { why: 'OC-22 malformed', more: { input_data: 7 }, status: 400, code: 'validation_error' },
  ]
  for (const { why, more, status, code } of refused) {
    test(`${why}: an error without a response`, async () => {
      const asked = request(more)
      const { status: got, body } = await call(at(COLLABORATIONS), { body: asked })
      assert.deepEqual([got, body.code, body.retryable], [status, code, false])
      assert.equal(body.correlation_id, asked.correlation_id)
    })
  }

  const rejected: readonly { why: string; more: Body; code: string }[] = [
    {
      why: 'an unknown capability',
      more: { capability_id: 'sing' },
      code: 'capability_not_available',
    },
    { why: 'a wrong input', more: { input_data: { text: 1 } }, code: 'invalid_input' },
    {
      why: 'a deadline that has passed',
      more: { deadline: '2026-01-01T00:00:00Z' },
      code: 'deadline_too_soon',
    },
  ]
  for (const { why, more, code } of rejected) {
    test(`OC-13 ${why} is rejected with its code`, async () => {
      const { body } = await call(at(COLLABORATIONS), { body: request(more) })
      const reason = body.rejection_reason as Body
      assert.deepEqual([body.response_status, reason.code], ['rejected', code])
    })
  }

  test('OC-18 cancelling stops the work', async () => {
    const asked = request({ capability_id: 'slow_echo', input_data: { text: 'stop me' } })
    await call(at(COLLABORATIONS), { body: asked })
    const path = `${at(COLLABORATIONS)}/${String(asked.request_id)}`
    const { status, body } = await call(`${path}/cancel`, { body: {} })
    assert.deepEqual([status, body.result_status], [200, 'cancelled'])
    await until(async () => slow.stopped.includes('stop me'))
    assert.deepEqual((await call(`${path}/cancel`, { body: {} })).body, body)

    const done = request()
    await call(at(COLLABORATIONS), { body: done })
    const ended = `${at(COLLABORATIONS)}/${String(done.request_id)}`
    await call(ended, { headers: { prefer: 'wait=10' } })
    assert.equal((await call(`${ended}/cancel`, { body: {} })).status, 409)
  })

  test('what nobody has asked for is not found', async () => {
    assert.equal((await call(`${at(COLLABORATIONS)}/${randomUUID()}`)).status, 404)
    assert.equal((await call(`${at(COLLABORATIONS)}/what`)).status, 404)
  })

  test('P-7 progress comes as events, which resume', async () => {
    const asked = request({ capability_id: 'slow_echo', input_data: { text: 'tell me' } })
    await call(at(COLLABORATIONS), { body: asked })
    const url = `${at(COLLABORATIONS)}/${String(asked.request_id)}/events`
    const following = fetch(url).then((answer) => answer.text())
    await slow.letGo()
    const all = await following
    assert.deepEqual(
      [...all.matchAll(/^id: (\d+)\nevent: (\w+)$/gm)].map(([, id, name]) => `${id} ${name}`),
      ['1 response', '2 progress', '3 result'],
    )
    assert.match(all, /"share":0.5,"note":"half"/)
    const rest = await fetch(url, { headers: { 'last-event-id': '2' } })
    const events = [...(await rest.text()).matchAll(/^event: (\w+)$/gm)].map(([, name]) => name)
    assert.deepEqual(events, ['result'])
  })
})

describe('Chorus', () => {
  test('CH-4 CH-5 CH-6 a job is answered with its result, and a repeat with the same', async () => {
    const asked = job()
    const first = await call(at('/jobs'), { body: asked })
    const { status, output_data, execution_cost, agent_id } = first.body
    assert.equal(first.status, 200)
    assert.deepEqual(
      [status, output_data, execution_cost, agent_id],
      ['SUCCESS', { words: 3 }, 0.05, agent.id()],
    )
    assert.deepEqual((await call(at('/jobs'), { body: asked })).body, first.body)
    assert.deepEqual((await call(at(`/jobs/${String(asked.job_id)}`))).body, first.body)
  })

  test('CH-4 P-8 with a callback it is 202, and the result is posted there, signed', async () => {
    const receiver = await startReceiver({ status: 204 })
    try {
      const asked = job({ callback_url: `${receiver.url}/here` })
      const { status, body } = await call(at('/jobs'), { body: asked })
      assert.deepEqual([status, body.status], [202, 'PENDING'])
      await receiver.came(1)
      const [letter] = receiver.seen
      const result = JSON.parse(letter?.body ?? '{}') as Body
      assert.deepEqual([result.status, result.output_data], ['SUCCESS', { words: 3 }])
      assert.match(String(letter?.headers['signature-input']), /content-digest/)
      assert.ok(letter?.headers['idempotency-key'])
    } finally {
      await receiver.close()
    }
  })

  test('P-8 a callback that is gone is given up, listed, and can be sent again', async () => {
    const receiver = await startReceiver({ status: 410 })
    try {
      const asked = job({ callback_url: `${receiver.url}/gone` })
      await call(at('/jobs'), { body: asked })
      await receiver.came(1)
      const lost = async () =>
        (await agent.work().lost()).find(({ work }) => work.ask.task === asked.job_id)
      await until(async () => (await lost()) !== undefined)
      const kept = await lost()
      // The one to the hub may still be under way.
      assert.deepEqual(
        kept?.letters.filter((each) => each.lost).map((each) => [each.to, each.lost]),
        [['callback', 'gone']],
      )
      receiver.behave({ status: 204 })
      assert.ok(kept && (await agent.work().resend(kept.work.ask.work)).ok)
      await receiver.came(2)
      await until(async () => (await lost()) === undefined)
      const [first, second] = receiver.seen
      assert.equal(second?.headers['idempotency-key'], first?.headers['idempotency-key'])
    } finally {
      await receiver.close()
    }
  })

  test('P-8 a callback into the inside network is not dialled', async () => {
    const asked = job({ callback_url: 'http://10.0.0.1/inside' })
    await call(at('/jobs'), { body: asked })
    await until(async () =>
      (await agent.work().lost()).some(
        ({ work, letters }) =>
          work.ask.task === asked.job_id && letters[0]?.lost === 'refused_address',
      ),
    )
  })

  const refused: readonly { why: string; more: Body; status: number; code: string }[] = [
    { why: 'another skill', more: { skill_name: 'sing' }, status: 422, code: 'SKILL_MISMATCH' },
    { why: 'too small a budget', more: { budget: 0.01 }, status: 402, code: 'BUDGET_INSUFFICIENT' },
    {
      why: 'another currency',
      more: { currency: 'shells' },
      status: 422,
      code: 'INVALID_REQUEST',
    },
    { why: 'a risen price', more: { quoted_cost: 0.01 }, status: 402, code: 'BUDGET_INSUFFICIENT' },
  ]
  for (const { why, more, status, code } of refused) {
    test(`CH-6 CH-11 ${why}: a result that says so and costs nothing`, async () => {
      const { status: got, body } = await call(at('/jobs'), { body: job(more) })
      assert.deepEqual(
        [got, body.status, body.error_code, body.execution_cost],
        [status, 'FAILURE', code, 0],
      )
    })
  }
})

describe('a skill by its name', () => {
  test('P-4 answers with its output, once under a key', async () => {
    const headers = { 'idempotency-key': randomUUID() }
    const body = { text: 'one two' }
    const first = await call(at('/skills/word_count'), { body, headers })
    assert.deepEqual([first.status, first.body], [200, { words: 2 }])
    const again = await call(at('/skills/word_count'), { body, headers })
    assert.equal(again.headers.get('x-work-id'), first.headers.get('x-work-id'))
    const other = await call(at('/skills/word_count'), { body: { text: 'x' }, headers })
    assert.equal(other.status, 409)
  })

  test('names what is wrong with an input', async () => {
    const { status, body } = await call(at('/skills/word_count'), { body: {} })
    assert.deepEqual([status, body.code], [400, 'INVALID_INPUT'])
  })
})

test('OC-19 whoever has the agent’s key agrees to work that waits on a person', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'chimera-agent-'))
  const skill = defineSkill({
    name: 'delete_all',
    version: '1.0',
    approval: true,
    input: Type.Object({}),
    output: Type.Object({ done: Type.Boolean() }),
    run: () => ({ done: true }),
  })
  const name = 'chimera-careful'
  const careful = await startAgent({ hub: hub.address, name, skills: [skill], directory })
  try {
    const asked = request({ capability_id: 'delete_all', input_data: {} })
    const doors = `${careful.address()}${COLLABORATIONS}`
    const { body } = await call(doors, { body: asked })
    assert.deepEqual([body.response_status, body.estimated_completion], ['accepted', undefined])
    const { pair: key } = await loadKeyFile(join(directory, 'key.json'))
    const list = `${careful.address()}/v1/work`
    const approve = `${list}/${String(body.collaboration_id)}/approve`
    const statuses = [
      await call(list),
      await call(list, { key: generateKeyPair() }),
      await call(approve, { body: {} }),
    ].map(({ status }) => status)
    assert.deepEqual(statuses, [401, 403, 401])
    const { body: shown } = await call(list, { key })
    assert.equal((shown.work as Body[])[0]?.state, 'awaiting')
    const one = `${list}/${String(asked.request_id)}`
    assert.equal((await call(one)).status, 401)
    assert.deepEqual((await call(one, { key })).body, shown, 'by the name of the requester, too')
    assert.equal((await call(`${list}/${randomUUID()}`, { key })).status, 404)
    assert.equal((await call(approve, { body: {}, key })).status, 204)
    const path = `${doors}/${String(asked.request_id)}`
    const { body: result } = await call(path, { headers: { prefer: 'wait=10' } })
    assert.deepEqual(result.output_data, { done: true })
    assert.equal((await call(approve, { body: {}, key })).status, 409)
    const unknown = `${list}/${randomUUID()}/approve`
    assert.equal((await call(unknown, { body: {}, key })).status, 404)
  } finally {
    await careful.stop()
    await rm(directory, { recursive: true, force: true })
  }
})

test('AV-5 a drained agent finishes, refuses, tells the network, and says goodbye', async () => {
  const own = createSlow()
  const leaving = await startAgent({
    hub: hub.address,
    name: 'chimera-leaver',
    skills: [own.skill],
  })
  const asked = request({ capability_id: 'slow_echo', input_data: { text: 'last' } })
  const doors = `${leaving.address()}${COLLABORATIONS}`
  await call(doors, { body: asked })
  const drained = leaving.drain()
  await until(async () => {
    const { body } = await hub.get(`/moltbook/v1/directory?agent_id=${leaving.id()}&state=draining`)
    return (body.instances as unknown[]).length === 1
  })
  const { status, body } = await call(doors, { body: { ...asked, request_id: randomUUID() } })
  const reason = body.rejection_reason as Body
  assert.deepEqual([status, reason.code, reason.retryable], [503, 'capability_not_available', true])
  await own.letGo()
  await drained
  const { body: result } = await call(`${doors}/${String(asked.request_id)}`)
  assert.equal(result.result_status, 'completed')
  const report = await leaving.stop()
  assert.deepEqual(report.notClosed, [])
  const { body: left } = await hub.get(
    `/moltbook/v1/directory?agent_id=${leaving.id()}&state=offline`,
  )
  assert.equal((left.instances as unknown[]).length, 1)
})
