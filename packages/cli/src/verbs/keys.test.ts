/**
 * Owners, tokens and keys by the real command line, against a real hub that requires
 * authentication; both are processes.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { signRequest } from '@chimera/identity/http-signature'
import { loadKeyFile } from '@chimera/identity/key-file'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { chimera, type HubProcess, startHubProcess } from '../../test/command.ts'

const AGENT = '7d0c3c0a-5b1e-4a52-9a53-6f1f0f6f7d11'
// Each call starts Node and loads the sources; a busy machine takes seconds for that.
const PATIENCE_MS = 120_000

let home = ''
let hub: HubProcess
let stopped = false
const file = (name: string) => join(home, name)
const closed = () => ['--listen', '127.0.0.1:0', '--data', file('data'), '--auth', 'required']
const run = (...words: string[]) => chimera(words, { CHIMERA_HUB: hub.address })
const as = (name: string) => ['--token-file', file(`${name}.token`)] as const
const textOf = async (name: string) => (await readFile(file(`${name}.token`), 'utf8')).trim()

async function register(key: string): Promise<number> {
  const { pair } = await loadKeyFile(file(key))
  const url = `${hub.address}/register`
  const text = JSON.stringify({
    agent_id: AGENT,
    agent_name: 'Draw',
    owner_id: 'alice',
    api_endpoint: 'https://draw.example.org/jobs',
    skills: [{ skill_name: 'draw', cost_per_call: 1 }],
  })
  const headers = {
    'content-type': 'application/json',
    authorization: `Bearer ${await textOf('alice')}`,
    'x-chimera-key': pair.publicKey,
  }
  const request = { method: 'POST', url, headers, body: Buffer.from(text) }
  const fields = signRequest(request, pair, { now: Date.now(), nonce: randomUUID() })
  const answer = await fetch(url, {
    method: 'POST',
    headers: { ...headers, ...fields },
    body: text,
  })
  return answer.status
}

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'chimera-cli-keys-'))
  hub = await startHubProcess([...closed(), '--recovery-delay', '30d'])
  await writeFile(file('operator.token'), `${await hub.operatorToken}\n`, { mode: 0o600 })
}, PATIENCE_MS)

afterAll(async () => {
  if (!stopped) await hub?.stop()
  await rm(home, { recursive: true, force: true })
}, PATIENCE_MS)

describe('owners and tokens', { timeout: PATIENCE_MS }, () => {
  test('an operator makes an owner; the text goes into a file and nowhere else', async () => {
    const made = await run('owner', 'add', 'alice', ...as('operator'), '--out', file('alice.token'))
    assert.equal(made.status, 0, made.err)
    const text = await textOf('alice')
    assert.match(text, /^chm_owner_/)
    assert.ok(!made.out.includes(text) && !made.err.includes(text))
    if (process.platform !== 'win32') {
      assert.equal((await stat(file('alice.token'))).mode & 0o777, 0o600)
    }
    const [nobody, alice, noFile, noScope] = await Promise.all([
      run('owner', 'add', 'carol'),
      run('owner', 'add', 'carol', ...as('alice')),
      run('owner', 'add', 'carol', '--token-file', file('nowhere')),
      run('owner', 'add', 'carol', '--scopes', 'all', ...as('operator')),
    ])
    assert.deepEqual([nobody.status, alice.status], [1, 1])
    assert.match(nobody.err, /--token-file or CHIMERA_TOKEN/)
    assert.match(alice.err, /may not/)
    assert.deepEqual([noFile.status, noScope.status], [2, 2])
    assert.match(noScope.err, /read, agents, money/)
  })

  test('a narrower token is made, listed without its text, and revoked', async () => {
    const wanted = ['--scopes', 'read,money', '--cap', '5', '--expires-in', '90d']
    const made = await run('token', 'add', ...wanted, ...as('alice'), '--json')
    assert.equal(made.status, 0, made.err)
    const token = JSON.parse(made.out)
    assert.deepEqual([token.scopes, token.spending_cap], [['read', 'money'], 5])
    const daysAhead = (Date.parse(token.expires_at) - Date.now()) / 86_400_000
    assert.ok(daysAhead > 89 && daysAhead <= 90, `${daysAhead}`)

    const [listed, json] = await Promise.all([
      run('token', 'list', ...as('alice')),
      run('token', 'list', '--owner', 'alice', '--json', ...as('operator')),
    ])
    assert.match(
      listed.out,
      new RegExp(`^${token.id} +alice +read,money +\\S+ +0\\.00 +5\\.00`, 'm'),
    )
    assert.equal(JSON.parse(json.out).tokens.length, 2)
    for (const each of [listed, json]) assert.ok(!(each.out + each.err).includes(token.token))

    const revoked = await run('token', 'revoke', token.id, ...as('alice'))
    assert.deepEqual([revoked.status, revoked.out], [0, ''])
    const [dead, unknown] = await Promise.all([
      chimera(['token', 'list'], { CHIMERA_HUB: hub.address, CHIMERA_TOKEN: token.token }),
      run('token', 'revoke', randomUUID(), ...as('operator')),
    ])
    assert.deepEqual([dead.status, unknown.status], [1, 1])
    assert.ok(!dead.err.includes(token.token))
  })

  test('a session is given for a token, and lets other commands in by the variable', async () => {
    const given = await run('token', 'session', '--ttl', '5m', '--scopes', 'read', ...as('alice'))
    assert.equal(given.status, 0, given.err)
    const session = given.out.trim()
    assert.equal(session.split('.').length, 3)
    const [let_in, kept_out] = await Promise.all([
      chimera(['ledger'], { CHIMERA_HUB: hub.address, CHIMERA_TOKEN: session }),
      chimera(['ledger'], { CHIMERA_HUB: hub.address }),
    ])
    assert.deepEqual([let_in.status, kept_out.status], [0, 1])
  })

  test('a file that is there is not overwritten, and the text is not lost', async () => {
    await writeFile(file('taken'), 'mine')
    const made = await run(
      'token',
      'add',
      '--scopes',
      'read',
      ...as('alice'),
      '--out',
      file('taken'),
    )
    assert.equal(made.status, 1)
    assert.match(made.out, /^chm_owner_/)
    assert.equal(await readFile(file('taken'), 'utf8'), 'mine')
  })
})

describe('keys', { timeout: PATIENCE_MS }, () => {
  test('AV-12 a key is made, and the agent handed over to another; both sign', async () => {
    const made = await run('keys', 'new', file('agent.json'), '--json')
    const { pair } = await loadKeyFile(file('agent.json'))
    assert.deepEqual(JSON.parse(made.out).key_id, pair.id)
    const again = await run('keys', 'new', file('agent.json'))
    assert.equal(again.status, 1)
    assert.match(again.err, /never overwritten/)
    assert.equal(await register('agent.json'), 201)

    const words = ['--key-file', file('agent.json'), '--new-key-file', file('next.json')]
    const rotated = await run('keys', 'rotate', AGENT, ...words)
    assert.equal(rotated.status, 0, rotated.err)
    const next = (await loadKeyFile(file('next.json'))).pair
    const shown = await run('keys', 'show', AGENT, '--json')
    const ids = JSON.parse(shown.out).keys.map((each: { key_id: string }) => each.key_id)
    assert.deepEqual(ids, [pair.id, next.id])
    assert.match(rotated.out, new RegExp(`^${next.id} +${next.publicKey} +\\S+ +now$`, 'm'))
    const twice = await run('keys', 'rotate', AGENT, ...words)
    assert.equal(twice.status, 0, 'a retry is the same rotation')

    const session = await run('token', 'session', '--key-file', file('next.json'))
    assert.equal(session.status, 0, session.err)
    const stale = await run('token', 'session', '--key-file', file('agent.json'))
    assert.equal(stale.status, 1)
  })

  test('AV-12 an owner replaces a lost key, and who still has it calls that off', async () => {
    const third = ['--new-key-file', file('third.json')]
    const begun = await run('keys', 'recover', AGENT, ...third, ...as('alice'))
    assert.equal(begun.status, 0, begun.err)
    assert.match(begun.err, /takes its place on \d{4}-/)
    const early = await run('keys', 'finish', AGENT, ...as('alice'))
    assert.equal(early.status, 1)
    assert.match(early.err, /Ask again in \d+ s/)
    const [stranger, byThird] = await Promise.all([
      run('keys', 'recover', AGENT, ...third),
      run('keys', 'call-off', AGENT, '--key-file', file('third.json')),
    ])
    assert.deepEqual([stranger.status, byThird.status], [1, 1])
    const off = await run('keys', 'call-off', AGENT, '--key-file', file('next.json'), '--json')
    assert.equal(off.status, 0, off.err)
    assert.equal(JSON.parse(off.out).recovery, undefined)
  })

  test('words that make no sense end with 2', async () => {
    const [noId, noFile, noKey] = await Promise.all([
      run('keys', 'show', 'somebody'),
      run('keys', 'rotate', AGENT, '--key-file', file('next.json')),
      run('keys', 'call-off', AGENT, '--key-file', file('nowhere.json')),
    ])
    assert.deepEqual([noId.status, noFile.status, noKey.status], [2, 2, 1])
    assert.match(noKey.err, /nowhere\.json/)
  })

  test('P-15 the hub gets a new key, and shows the old one beside it', async () => {
    const before = JSON.parse((await run('keys', 'show', 'hub', '--json')).out)
    stopped = true
    await hub.stop()
    const rotated = await chimera(['keys', 'rotate-hub', '--data', file('data'), '--json'])
    assert.equal(rotated.status, 0, rotated.err)
    const { old_key, new_key } = JSON.parse(rotated.out)
    assert.equal(old_key, before.key_id)
    hub = await startHubProcess(closed())
    stopped = false
    const shown = await run('keys', 'show', 'hub')
    assert.match(shown.out, new RegExp(`^${old_key} .* \\d{4}-\\S+$`, 'm'))
    assert.match(shown.out, new RegExp(`^${new_key} .* now$`, 'm'))
  })
})
