/**
 * The real command line against a real hub, both as processes: what people read, what programs get,
 * and with which status it ends.
 */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { chimera, type HubProcess, startHubProcess } from '../test/command.ts'

const AGENT = '7d0c3c0a-5b1e-4a52-9a53-6f1f0f6f7d11'
const JOB = '22222222-5b1e-4a52-9a53-6f1f0f6f7d11'
// Each call starts Node and loads the sources; a busy machine takes seconds for that.
const PATIENCE_MS = 60_000

let home = ''
let data = ''
let hub: HubProcess
let stopped = false
let trail = ''

async function post(path: string, body: unknown): Promise<void> {
  const answer = await fetch(`${hub.address}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  assert.ok(answer.ok, `${path}: ${answer.status} ${await answer.text()}`)
}

const atHub = () => ({ CHIMERA_HUB: hub.address })

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'chimera-cli-'))
  data = join(home, 'data')
  hub = await startHubProcess(['--listen', '127.0.0.1:0', '--data', data], { fromNothing: true })
  await post('/register', {
    agent_id: AGENT,
    agent_name: 'Summer\u001b[31m',
    owner_id: 'bob',
    api_endpoint: 'http://127.0.0.1:9/x',
    skills: [{ skill_name: 'summarize', cost_per_call: 1.5 }],
  })
  await post('/accounts', { owner_id: 'alice', initial_balance: 100 })
  await post('/transfer', {
    transfer_id: '11111111-5b1e-4a52-9a53-6f1f0f6f7d11',
    from_owner: 'alice',
    to_owner: 'bob',
    amount: 12.34,
    job_id: JOB,
  })
  await post(`/reputation/${AGENT}/success?job_id=${JOB}`, {})
}, PATIENCE_MS)

afterAll(async () => {
  if (!stopped) await hub?.stop()
  await rm(home, { recursive: true, force: true })
}, PATIENCE_MS)

describe('while the hub runs', { timeout: PATIENCE_MS }, () => {
  test('discover lists who offers a skill, and a stranger cannot steer the terminal', async () => {
    const [shown, none] = await Promise.all([
      chimera(['discover', 'summarize', '--max-cost', '1.50'], atHub()),
      chimera(['discover', 'summarize', '--max-cost', '1.49', '--hub', hub.address]),
    ])
    assert.equal(shown.status, 0, shown.err)
    assert.match(shown.out, new RegExp(`^AGENT .*\n${AGENT} +Summer\ufffd\\[31m +51.00 +1.50 `))
    assert.equal(shown.err, '1 found.\n')
    assert.equal(none.status, 0)
    assert.match(none.err, /Nobody .*chimera agents skills/)
  })

  test('--json is what the hub answers, on standard output alone', async () => {
    const [found, ledger] = await Promise.all([
      chimera(['discover', 'summarize', '--json'], atHub()),
      chimera(['ledger', 'alice', '--json'], atHub()),
    ])
    const { agents } = JSON.parse(found.out)
    assert.equal(agents[0].agent_id, AGENT)
    assert.ok(agents[0].why.length > 0)
    assert.equal(found.err, '')
    const { account, transactions } = JSON.parse(ledger.out)
    assert.deepEqual(account, { owner_id: 'alice', balance: 87.66 })
    assert.equal(transactions[0].job_id, JOB)
  })

  test('ledger and agents show what is there', async () => {
    const [economy, agent, unknown] = await Promise.all([
      chimera(['ledger'], atHub()),
      chimera(['agents', 'show', AGENT], atHub()),
      chimera(['ledger', 'nobody'], atHub()),
    ])
    assert.match(economy.out, /^2 +1 +12\.34$/m)
    assert.match(economy.out, /^alice +87\.66$/m)
    assert.match(economy.out, new RegExp(`alice +bob +12\\.34 +${JOB}$`, 'm'))
    assert.match(agent.out, /^owner +bob$/m)
    assert.match(agent.out, /^summarize +1\.50/m)
    assert.deepEqual([unknown.status, unknown.out], [1, ''])
    assert.match(unknown.err, /No account/)
  })

  test('its data is not opened a second time, and whoever asks is told who has it', async () => {
    const [exported, looked] = await Promise.all([
      chimera(['audit', 'export', '--data', data]),
      chimera(['doctor', '--data', data, '--listen', hub.address.slice('http://'.length)]),
    ])
    assert.deepEqual([exported.status, exported.out], [1, ''])
    assert.match(exported.err, /held by process \d+\nStop the hub/)
    assert.equal(looked.status, 0, looked.err)
    assert.match(looked.out, /^port \d+ +note +a hub answers there already$/m)
    assert.match(looked.out, /^data +note +.* is held by process \d+$/m)
  })

  test('doctor finds a port that another program has, and says what to do', async () => {
    const other = createServer((socket) => socket.destroy())
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const place = other.address()
    assert.ok(place !== null && typeof place === 'object')
    const free = join(home, 'none')
    const listen = `127.0.0.1:${place.port}`
    const { status, out, err } = await chimera(['doctor', '--listen', listen, '--data', free])
    await new Promise((resolve) => other.close(resolve))
    assert.equal(status, 1)
    assert.match(out, new RegExp(`^port ${place.port} +bad +another program`, 'm'))
    assert.match(err, /--listen/)
    assert.match(out, /^data +ok .* will be made/m)
    await assert.rejects(stat(free), 'looking makes nothing')
  })

  test('words that make no sense end with 2, all problems at once', async () => {
    const asked = ['discover', 'a', '--limit', '0', '--max-cost', '1.234', '--hub', 'ftp://x']
    const [flags, missing, unknown, hubless] = await Promise.all([
      chimera(asked),
      chimera(['doctor', '--nonsense']),
      chimera(['store', 'migrate', '--check', '--database', 'mysql://x'], { CHIMERA_LISTEN: 'x' }),
      // Port 9 discards; nobody listens there.
      chimera(['ledger', '--hub', 'http://127.0.0.1:9']),
    ])
    assert.deepEqual([flags.status, flags.out], [2, ''])
    for (const flag of ['--limit', '--max-cost', '--hub']) {
      assert.match(flags.err, new RegExp(`from the flag ${flag}: expected`))
    }
    assert.equal(missing.status, 2)
    assert.match(missing.err, /--nonsense/)
    assert.equal(unknown.status, 2)
    for (const said of [/the flag --database/, /the variable CHIMERA_LISTEN/]) {
      assert.match(unknown.err, said)
    }
    assert.equal(hubless.status, 1)
    assert.match(
      hubless.err,
      /No hub answers on http:\/\/127\.0\.0\.1:9\.\nStart one with `chimera/,
    )
  })
})

describe('after it stopped', { timeout: PATIENCE_MS }, () => {
  beforeAll(async () => {
    stopped = true
    const { status } = await hub.stop()
    assert.equal(status, 0)
  }, PATIENCE_MS)

  test('P-10 an export proves itself, and what is altered in it is named', async () => {
    const file = join(home, 'trail.jsonl')
    const exported = await chimera(['audit', 'export', '--data', data, '--out', file])
    assert.equal(exported.status, 0, exported.err)
    const [head = ''] = /^\d+:[0-9a-f]{64}$/m.exec(exported.err) ?? []
    const text = await readFile(file, 'utf8')
    trail = text
    const paid = text.split('\n').findIndex((line) => line.includes('credits_transferred'))
    assert.ok(paid > 0)
    const altered = join(home, 'altered.jsonl')
    await writeFile(altered, text.replace('"amountCents":1234', '"amountCents":1233'))
    assert.notEqual(await readFile(altered, 'utf8'), text)
    const other = `${head.slice(0, -1)}${head.endsWith('0') ? '1' : '0'}`

    const [fine, broken, rewritten, again] = await Promise.all([
      chimera(['audit', 'verify', file, '--until', head]),
      chimera(['audit', 'verify', altered]),
      chimera(['audit', 'verify', file, '--until', other, '--json']),
      chimera(['audit', 'export', '--data', data, '--out', file]),
    ])
    assert.equal(fine.status, 0, fine.err)
    assert.match(fine.out, /^owner:alice +87\.66$/m)
    assert.match(fine.out, new RegExp(`^${AGENT} +51\\.00 +1\\.000000$`, 'm'))
    assert.ok(fine.err.includes(head))
    assert.deepEqual([broken.status, broken.out], [1, ''])
    assert.match(broken.err, new RegExp(`^Broken at fact ${paid}: .*\\(altered\\)`))
    assert.equal(rewritten.status, 1)
    assert.equal(JSON.parse(rewritten.out).broken.kind, 'rewritten')
    assert.equal(again.status, 2, 'an export is not written over')
  })

  test('a backup is restored into a fresh directory, with the same books', async () => {
    const file = join(home, 'backup.jsonl')
    const copy = join(home, 'copy')
    const saved = await chimera(['store', 'backup', file, '--data', data])
    assert.equal(saved.status, 0, saved.err)
    assert.equal((await stat(file)).mode & 0o077, 0, 'nobody else reads it')

    const [restored, refused] = await Promise.all([
      chimera(['store', 'restore', file, '--data', copy]),
      chimera(['store', 'restore', file, '--data', data]),
    ])
    assert.equal(restored.status, 0, restored.err)
    assert.equal(refused.status, 1)
    assert.match(refused.err, /only into an empty database\.\n.*\n.*--data/)

    const after = await chimera(['audit', 'export', '--data', copy])
    assert.equal(after.status, 0, after.err)
    assert.match(after.out, /^\{"balances":\{[^}]*"owner:alice":8766/)
    assert.equal(after.out, trail)
  })

  test('store migrate --check says whether a hub could start on it', async () => {
    const [there, none] = await Promise.all([
      chimera(['store', 'migrate', '--check', '--json', '--data', data]),
      chimera(['store', 'migrate', '--check', '--data', join(home, 'none')]),
    ])
    assert.deepEqual([there.status, JSON.parse(there.out).fits], [0, true])
    assert.equal(none.status, 1)
    assert.match(none.err, /There is no database in .*\n.*--data/)
  })
})
