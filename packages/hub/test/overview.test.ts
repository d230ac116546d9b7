/** The whole picture: agents, facts, books and the hub itself, to whoever may see it. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { createClock } from '@chimera/host/clock'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { createHiring, type Hiring, type Party, SKILL } from './hiring.ts'
import { runHub, type TestHub } from './running.ts'

type Rows = readonly Record<string, unknown>[]

let hub: TestHub
let hiring: Hiring
let hirer: Party
let worker: Party
let task: string

beforeAll(async () => {
  hub = await runHub({ auth: 'required' })
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
  for (const path of ['/v1/agents', '/v1/agents/x/presence', '/v1/facts', '/v1/books', '/v1/hub']) {
    test(`${path} is not for strangers`, async () => {
      assert.equal((await ask(path)).status, 401)
      assert.equal((await ask(path, 'chm_nothing')).status, 401)
    })
  }
  test('the audit is for operators', async () => {
    assert.equal((await ask('/v1/facts?topics=audit', hirer.token)).status, 403)
  })
  test('what a fleet stands on is for operators; a hub without one knows of none', async () => {
    assert.equal((await ask('/v1/providers', hirer.token)).status, 403)
    const { status, body } = await ask('/v1/providers', hiring.operator)
    assert.deepEqual([status, body], [200, { providers: [] }])
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
  test('one of them by its day; somebody unknown has none', async () => {
    const silent = await ask(`/v1/agents/${worker.id}/presence`, hirer.token)
    assert.deepEqual([silent.status, silent.body.up, silent.body.spans], [200, 0, []])
    assert.equal((await ask(`/v1/agents/${randomUUID()}/presence`, hirer.token)).status, 404)
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

describe('a hire', () => {
  test('X-4 is found whole by its correlation, whoever settled it and under which id', async () => {
    const own = randomUUID()
    const held = await hiring.hold(hirer, worker, { task: own })
    const { status } = await hiring.send('/transfer', {
      token: hirer.token,
      body: {
        transfer_id: randomUUID(),
        from_owner: hirer.owner,
        to_owner: worker.owner,
        amount: 2.5,
        job_id: own,
      },
    })
    assert.equal(status, 200)
    assert.ok(held.id)
    const kinds = async (token: string) =>
      (await facts(`correlation=${own}`, token)).facts.map(({ kind }) => kind)
    const all = ['hold_captured', 'hold_confirmed', 'credits_held']
    assert.deepEqual(await kinds(hirer.token), all)
    assert.deepEqual(await kinds(hiring.operator), all)
    assert.deepEqual(await kinds((await hiring.newOwner()).token), [])
  })

  test('X-4 its trace is its credits’ too; who was found, and how far it is, is told', async () => {
    const trace = randomUUID()
    const own = randomUUID()
    const traced = (path: string, body?: object) =>
      hub.call(path, {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          authorization: `Bearer ${hirer.token}`,
          traceparent: `00-${trace.replaceAll('-', '')}-00f067aa0ba902b7-01`,
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
      })
    assert.equal((await traced(`/discover?skill=${SKILL}`)).status, 200)
    const placed = await traced('/v1/holds', {
      agent_id: worker.id,
      task_id: own,
      amount: 3,
      expires_at: new Date(Date.now() + 60_000).toISOString(),
    })
    assert.equal(placed.status, 201, JSON.stringify(placed.body))
    const [held] = (await facts(`correlation=${trace}`, hirer.token)).facts
    assert.deepEqual([held?.kind, held?.task_id], ['credits_held', own])

    const advance = (how: object, as: object) =>
      hiring.send(`/v1/work/${own}/progress`, {
        body: { share: 0.25, at: new Date().toISOString(), ...how },
        ...as,
      })
    assert.equal((await advance({ note: 'a stranger’s' }, { key: hirer.key })).status, 204)
    assert.equal((await advance({ note: 'Page 3 of 12' }, { key: worker.key })).status, 204)
    assert.equal((await advance({}, { token: hirer.token })).status, 403)
    assert.equal((await advance({}, {})).status, 401)
    assert.equal((await advance({ share: 2 }, { key: worker.key })).status, 400)
    const { body } = await hiring.work(own, { token: hirer.token })
    const { found, progress } = body as { found?: Record<string, unknown>; progress?: Rows }
    assert.equal(found?.skill, SKILL)
    assert.ok(Number(found?.place) >= 1 && Number(found?.of) >= Number(found?.place))
    assert.deepEqual(
      progress?.map(({ share, note }) => [share, note]),
      [[0.25, 'Page 3 of 12']],
    )
  })
})

test('an unknown task has no facts, and that is no error', async () => {
  const { facts: none, next_before } = await facts(`task_id=${randomUUID()}`, hirer.token)
  assert.deepEqual([none, next_before], [[], undefined])
})
