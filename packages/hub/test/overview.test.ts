/** The whole picture: agents, facts, books and the hub itself, to whoever may see it. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { createClock } from '@chimera/host/clock'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { createHiring, type Hiring, type Party } from './hiring.ts'
import { runHub, type TestHub } from './running.ts'

type Rows = readonly Record<string, unknown>[]

let hub: TestHub
let hiring: Hiring
let hirer: Party
let worker: Party
let task: string

beforeAll(async () => {
  hub = await runHub({ auth: 'required', database: undefined })
  hiring = createHiring(hub, createClock())
  hirer = await hiring.newParty()
  worker = await hiring.newParty()
  const held = await hiring.hold(hirer, worker)
  task = held.task
  assert.ok((await hiring.capture(worker, held.id, 250)).ok)
  await hiring.hold(hirer, worker)
})
afterAll(() => hub.stop())

const ask = (path: string, token?: string) =>
  hiring.send(path, token === undefined ? {} : { token })
const facts = async (query: string, token: string) => {
  const { status, body } = await ask(`/v1/facts?${query}`, token)
  assert.equal(status, 200, JSON.stringify(body))
  return body as { facts: Rows; head: { seq: number; hash?: string }; next_before?: number }
}

describe('who may ask', () => {
  for (const path of ['/v1/agents', '/v1/facts', '/v1/books', '/v1/hub']) {
    test(`${path} is not for strangers`, async () => {
      assert.equal((await ask(path)).status, 401)
      assert.equal((await ask(path, 'chm_nothing')).status, 401)
    })
  }
  test('the audit is for operators', async () => {
    assert.equal((await ask('/v1/facts?topics=audit', hirer.token)).status, 403)
  })
  test('what makes no sense is refused by name', async () => {
    for (const query of [
      'facts?before=1&after=1',
      'facts?limit=501',
      'agents?limit=0',
      'books?by=week',
    ]) {
      assert.equal((await ask(`/v1/${query}`, hiring.operator)).status, 400, query)
    }
  })
})

describe('agents', () => {
  test('everybody is listed, page by page', async () => {
    const first = await ask('/v1/agents?limit=1', hirer.token)
    const [one] = first.body.agents as Rows
    assert.equal(first.body.total, 2)
    const next = await ask(`/v1/agents?limit=1&after=${first.body.next_after}`, hirer.token)
    const [two] = next.body.agents as Rows
    assert.deepEqual([one?.agent_id, two?.agent_id], [hirer.id, worker.id].sort())
    assert.equal(next.body.next_after, undefined)
  })
  test('by owner and by skill', async () => {
    const own = await ask(`/v1/agents?owner_id=${worker.owner}`, hirer.token)
    assert.deepEqual(
      (own.body.agents as Rows).map(({ agent_id }) => agent_id),
      [worker.id],
    )
    const none = await ask('/v1/agents?skill=nobody_has_it', hirer.token)
    assert.deepEqual([none.body.agents, none.body.total], [[], 0])
  })
})

describe('facts', () => {
  test('tell the parties what the feed told them, and nobody else', async () => {
    const stranger = await hiring.newOwner()
    const kinds = async (token: string) =>
      (await facts(`task_id=${task}`, token)).facts.map(({ kind }) => kind)
    const all = ['hold_captured', 'hold_confirmed', 'credits_held']
    assert.deepEqual(await kinds(hirer.token), all)
    assert.deepEqual(await kinds(worker.token), all)
    assert.deepEqual(await kinds(hiring.operator), all)
    assert.deepEqual(await kinds(stranger.token), [])
  })
  test('of an open topic show a stranger no money and no parties', async () => {
    const stranger = await hiring.newOwner()
    const told = await facts('kinds=hold_captured', stranger.token)
    const [captured] = told.facts
    assert.equal(captured?.topic, 'trust')
    for (const name of ['amount', 'payer', 'payee', 'task_id', 'correlation', 'hold_id']) {
      assert.ok(!(name in (captured ?? {})), name)
    }
    assert.equal(told.head.hash, undefined)
  })
  test('read back to the first, one page after another, miss none', async () => {
    const seen: unknown[] = []
    for (let before: number | undefined; ; ) {
      const page = await facts(
        `topics=audit&limit=3${before === undefined ? '' : `&before=${before}`}`,
        hiring.operator,
      )
      seen.push(...page.facts.map(({ seq }) => seq))
      before = page.next_before
      if (before === undefined) break
    }
    const count = Number(seen[0])
    assert.deepEqual(
      seen,
      Array.from({ length: count }, (_, index) => count - index),
    )
  })
  test('read ahead are the same, whole and linked', async () => {
    const { facts: rows, head } = await facts('topics=audit&after=0&limit=500', hiring.operator)
    assert.equal(rows.at(-1)?.seq, head.seq)
    assert.equal(rows.at(-1)?.hash, head.hash)
    rows.forEach((row, index) => {
      if (index > 0) assert.equal(row.prev, rows[index - 1]?.hash)
    })
  })
  test('by kind and by time', async () => {
    const held = await facts('kinds=credits_held', hirer.token)
    assert.equal(held.facts.length, 2)
    const later = new Date(Date.now() + 60_000).toISOString()
    assert.deepEqual((await facts(`since=${later}`, hirer.token)).facts, [])
    assert.deepEqual((await facts(`until=2020-01-01T00:00:00Z`, hirer.token)).facts, [])
  })
})

test('P-10 the books add up to what was minted, holds and fees included', async () => {
  const { body } = await ask('/v1/books', hirer.token)
  assert.equal(body.balanced, true)
  assert.equal(body.standing_holds, 1)
  assert.equal(body.in_holds, 2.5)
  assert.equal(body.payments, 1)
  assert.equal(body.volume, 2.5)
  const spans = body.spans as Rows
  assert.deepEqual(
    spans.map(({ amount, payments }) => [amount, payments]),
    [[2.5, 1]],
  )
  const cents = (value: unknown) => Math.round(Number(value) * 100)
  const parts = cents(body.in_accounts) + cents(body.in_holds) + cents(body.in_fees)
  assert.equal(cents(body.minted), parts)
})

describe('the hub itself', () => {
  test('knows whom it speaks to', async () => {
    const owner = await ask('/v1/hub', hirer.token)
    assert.deepEqual([owner.body.open, (owner.body.you as { kind: string }).kind], [false, 'owner'])
    assert.equal((owner.body.you as { owner_id: string }).owner_id, hirer.owner)
    assert.equal(owner.body.settings, undefined)
  })
  test('X-5 shows operators its settings without secrets, hosts and paths', async () => {
    const { body } = await ask('/v1/hub', hiring.operator)
    const text = JSON.stringify(body)
    const settings = new Map((body.settings as Rows).map(({ name, value }) => [name, value]))
    assert.equal(settings.get('auth'), 'required')
    assert.match(String(settings.get('listen')), /removed/)
    assert.doesNotMatch(String(settings.get('data')), /\//)
    assert.ok(!text.includes(hiring.operator))
  })
})

test('an unknown task has no facts, and that is no error', async () => {
  const { facts: none, next_before } = await facts(`task_id=${randomUUID()}`, hirer.token)
  assert.deepEqual([none, next_before], [[], undefined])
})
