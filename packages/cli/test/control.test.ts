/** `chimera control` as an operator runs it, against a real hub process that requires a token. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PublicKey } from '@chimera/domain/ids'
import { createClock } from '@chimera/host/clock'
import { signRequest } from '@chimera/identity/http-signature'
import { createKeyring } from '@chimera/identity/keyring'
import { generateKeyPair } from '@chimera/identity/keys'
import { verifyMessage } from '@chimera/identity/message'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { chimera, type HubProcess, type Ran, startHubProcess } from './command.ts'

const PATIENCE = { timeout: 180_000 }
const AGENT = '7d0c3c0a-5b1e-4a52-9a53-6f1f0f6f7d11'
const key = generateKeyPair()

let home = ''
let hub: HubProcess
let operator = ''
let alice = ''

type Json = Record<string, unknown>

async function ask(path: string, sent: { body?: Json; token?: string; signed?: boolean }) {
  const url = hub.address + path
  const text = sent.body === undefined ? undefined : JSON.stringify(sent.body)
  const method = text === undefined && !path.endsWith('/seen') ? 'GET' : 'POST'
  const headers: Record<string, string> = {
    ...(text !== undefined && { 'content-type': 'application/json' }),
    ...(sent.token !== undefined && { authorization: `Bearer ${sent.token}` }),
    ...(sent.signed && { 'x-chimera-key': key.publicKey }),
  }
  if (sent.signed) {
    const body = text === undefined ? undefined : Buffer.from(text)
    const by = { now: createClock().now(), nonce: randomUUID() }
    Object.assign(headers, signRequest({ method, url, headers, body }, key, by))
  }
  const answer = await fetch(url, { method, headers, ...(text !== undefined && { body: text }) })
  const said = await answer.text()
  assert.ok(answer.ok, `${path}: ${answer.status} ${said}`)
  return said === '' ? {} : (JSON.parse(said) as Json)
}

const control = (...words: readonly string[]): Promise<Ran> =>
  chimera(['control', ...words, '--token-file', join(home, 'operator.token')], {
    CHIMERA_HUB: hub.address,
  })

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'chimera-control-'))
  const words = ['--listen', '127.0.0.1:0', '--data', join(home, 'data'), '--auth', 'required']
  hub = await startHubProcess(words)
  operator = await hub.operatorToken
  await writeFile(join(home, 'operator.token'), operator, { mode: 0o600 })
  alice = String((await ask('/v1/owners', { body: { owner_id: 'alice' }, token: operator })).token)
  await writeFile(join(home, 'alice.token'), alice, { mode: 0o600 })
  const body = {
    agent_id: AGENT,
    agent_name: 'Counter',
    owner_id: 'alice',
    api_endpoint: 'https://counter.example.org/jobs',
    skills: [{ skill_name: 'count', cost_per_call: 0.05 }],
  }
  await ask('/register', { body, token: alice, signed: true })
}, PATIENCE.timeout)

afterAll(async () => {
  await hub?.stop()
  await rm(home, { recursive: true, force: true })
}, PATIENCE.timeout)

describe('chimera control', () => {
  test('SF-11 gives an order, shows it, and who has obeyed', PATIENCE, async () => {
    const nothing = await control('list')
    assert.deepEqual([nothing.status, nothing.out], [0, ''])
    assert.match(nothing.err, /Nothing is ordered/)

    const given = await control('pause', '--agent', AGENT, '--for', '2h', '--reason', 'Too slow.')
    assert.equal(given.status, 0, given.err)
    const order = /^(\S{36}) +pause +(\S{36}) .*Too slow\.$/m.exec(given.out)
    assert.equal(order?.[2], AGENT, given.out)
    const id = order?.[1] ?? ''
    assert.match(given.err, new RegExp(`chimera control seen ${id}`))

    assert.match((await control('seen', id)).err, /Nobody has obeyed/)
    await ask(`/v1/control/${id}/seen`, { signed: true })
    const seen = await control('seen', id)
    assert.match(seen.out, new RegExp(`^AGENT +SINCE\n${AGENT} +\\d{4}-`))
    assert.match((await control('list')).out, /pause.* 1 of 1$/m)
    assert.match((await control('show', AGENT)).out, /^\S{36} +pause/m)
  })

  test(
    'SF-11, SF-13 publishing and canary, to programs as the hub signed them',
    PATIENCE,
    async () => {
      const id = randomUUID()
      const words = ['publishing', 'off', '--owner', 'alice', '--id', id, '--json']
      const given = await control(...words)
      assert.equal(given.status, 0, given.err)
      const order = JSON.parse(given.out) as Json
      const { public_key } = await ask('/v1/keys/hub', {})
      assert.deepEqual(verifyMessage(order, public_key as PublicKey, createKeyring()), { ok: true })
      assert.deepEqual([order.control_id, order.enabled, order.owner_id], [id, false, 'alice'])
      assert.equal((await control(...words)).out, given.out, 'the same order again')

      const canary = await control('canary', '0.25', '--all')
      assert.match(canary.out, /canary 0\.25 +all /)
      const { orders } = JSON.parse((await control('list', '--json')).out) as { orders: Json[] }
      assert.deepEqual(orders.map((each) => each.addressed).slice(0, 2), [1, 1])
      const shown = JSON.parse((await control('show', AGENT, '--json')).out) as { orders: Json[] }
      assert.ok(shown.orders.some((each) => each.signature === order.signature))
    },
  )

  test('says what is wrong with the words, and what the hub refuses', PATIENCE, async () => {
    const asAlice = (...words: readonly string[]) =>
      chimera(['control', ...words, '--token-file', join(home, 'alice.token')], {
        CHIMERA_HUB: hub.address,
      })
    // biome-ignore format: a table is read by its columns
    const rows: [why: string, ran: () => Promise<Ran>, status: number, says: RegExp][] = [
      ['to nobody',           () => control('pause'),                                     2, /--agent <id>, --owner <name> and --all/],
      ['to two at once',      () => control('pause', '--all', '--agent', AGENT),          2, /one of --agent/],
      ['no id of an agent',   () => control('pause', '--agent', 'me'),                    2, /by its id/],
      ['neither on nor off',  () => control('publishing', 'maybe', '--all'),              2, /on, off/],
      ['no share',            () => control('canary', '10', '--all'),                     2, /a number from 0 to 1/],
      ['for too long',        () => control('pause', '--all', '--for', '91d'),            2, /for/],
      ['an unknown agent',    () => control('pause', '--agent', randomUUID()),            1, /No agent is registered/],
      ['an owner is no operator', () => asAlice('pause', '--all'),                        1, /may not do this/],
      ['an order that is none', () => control('seen', randomUUID()),                      1, /No order is known/],
    ]
    for (const [why, ran, status, says] of rows) {
      const { status: got, err } = await ran()
      assert.equal(got, status, `${why}: ${err}`)
      assert.match(err, says, why)
    }
    const help = await chimera(['control', '--help'])
    assert.equal(help.status, 0)
    assert.match(help.out, /Examples:\n {2}chimera control pause/)
  })
})
