/**
 * Alerts of a real hub on a virtual clock: which conditions raise them, how they end, who is told,
 * and that the documented way to check a webhook's signature works.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ALERT_KINDS, ALERTS } from '@chimera/domain/alert'
import type { Alias, CorrelationId, MessageId, OwnerId } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import { afterAll, afterEach, beforeAll, describe, test } from 'vitest'
import { type Asker, createAsker, registration } from './asking.ts'
import { eventually, type Receiver, startReceiver } from './receiving.ts'
import { runHub, type TestHub } from './running.ts'

const PAGE = readFileSync(new URL('../../../docs/operate/alerts.md', import.meta.url), 'utf8')
const clock = createVirtualClock()
let hub: TestHub
let asker: Asker
let operator = ''
let receiver: Receiver
beforeAll(async () => {
  hub = await runHub({ auth: 'required', allowNet: ['127.0.0.1'], clock })
  asker = createAsker(hub, clock)
  operator = asker.operator
  receiver = await startReceiver()
}, 120_000)
afterAll(async () => {
  await hub.stop()
  await receiver.close()
})

type Shown = {
  readonly id: string
  readonly kind: string
  readonly subject: string
  readonly state: string
  readonly message: string
  readonly count: number
  readonly raised_at: string
  readonly acknowledged_by?: string
}
const send: Asker['send'] = (path, sent) => asker.send(path, sent)
async function listed(query = '', by: TestHub = hub, token = operator) {
  const { status, body } = await createAsker(by, clock).send(`/v1/alerts${query}`, { token })
  assert.equal(status, 200)
  return { alerts: body.alerts as readonly Shown[], next: body.next_after }
}
const kinds = async (query = '', by: TestHub = hub) =>
  (await listed(query, by)).alerts.map(({ kind }) => kind)

/** Looks of the lookout, each given the time to do what it does. */
async function looks(is: () => boolean | Promise<boolean>, what: string, by = hub): Promise<void> {
  await eventually(async () => {
    if (await is()) return true
    await clock.advanceBy(LIMITS.alertLookMs)
    for (let turn = 0; turn < 5; turn += 1) await by.hub.keep.letters.find({ limit: 1 })
    return false
  }, what)
}
/** After a test nothing stands, so that the next one sees its own. */
async function settled(by: TestHub = hub): Promise<void> {
  for (const { kind, subject } of by.hub.alerts.standing()) by.hub.alerts.clear(kind, subject)
  await looks(async () => (await kinds('', by)).length === 0, 'nothing stands', by)
}

describe('the page for operators', { timeout: 60_000 }, () => {
  test('tells of every kind, with the words of the table', () => {
    for (const kind of ALERT_KINDS) {
      assert.ok(PAGE.includes(`\`${kind}\``), kind)
      assert.ok(PAGE.includes(ALERTS[kind].means), ALERTS[kind].means)
      assert.ok(PAGE.includes(ALERTS[kind].act), ALERTS[kind].act)
    }
  })
})

describe('webhooks', { timeout: 60_000 }, () => {
  const make = (url: string, more: Record<string, unknown> = {}, token = operator) =>
    send('/v1/webhooks', { token, body: { url, ...more } })
  const all = async () => {
    const { body } = await send('/v1/webhooks', { token: operator })
    return body.webhooks as readonly { readonly id: string; readonly url: string }[]
  }
  const remove = (id: string, token = operator) =>
    send(`/v1/webhooks/${id}`, { method: 'DELETE', token })
  afterEach(async () => {
    for (const { id } of await all()) assert.equal((await remove(id)).status, 204)
  })

  test('are for operators', async () => {
    const { token } = await asker.newOwner()
    const made = await make(`${receiver.url}/a`)
    assert.equal(made.status, 201)
    const id = String(made.body.id)
    for (const [tried, status] of [
      [await make(`${receiver.url}/b`, {}, token), 403],
      [await send('/v1/webhooks', { token }), 403],
      [await remove(id, token), 403],
      [await send('/v1/alerts', { token }), 403],
      [await send(`/v1/alerts/${id}/acknowledge`, { method: 'POST', token }), 403],
      [await send('/v1/alerts'), 401],
      [await send('/v1/webhooks'), 401],
    ] as const) {
      assert.equal(tried.status, status)
    }
    assert.deepEqual(
      (await all()).map((each) => each.id),
      [id],
    )
    assert.equal((await remove(randomUUID())).body.code, 'webhook_unknown')
    assert.equal((await remove('x')).status, 404)
  })

  test('go to addresses that the hub dials, and to no others', async () => {
    const inside = [
      'http://10.1.2.3/',
      'http://192.168.0.9/',
      'http://[fd00::1]/',
      'http://2130706434/',
    ]
    for (const url of inside) {
      const { status, body } = await make(url)
      assert.deepEqual([status, body.code], [422, 'address_refused'], url)
    }
    for (const wrong of ['ftp://a.example/', 'nonsense', 'https://a:b@c.example/']) {
      assert.equal((await make(wrong)).status, 400, wrong)
    }
    assert.equal((await make(receiver.url, { kinds: ['nothing'] })).status, 400)
    assert.deepEqual(await all(), [])
  })

  test('are so many at most, one for an address; a token in it is kept and not shown', async () => {
    const first = await make(`${receiver.url}/0?token=abc12345def`)
    assert.equal(first.status, 201)
    assert.ok(!JSON.stringify(first.body).includes('abc12345def'))
    const again = await make(`${receiver.url}/0?token=abc12345def`, { kinds: ['database_away'] })
    assert.deepEqual([again.status, again.body.id], [201, first.body.id])
    for (let each = 1; each < LIMITS.webhooks; each += 1) {
      assert.equal((await make(`${receiver.url}/${each}`)).status, 201)
    }
    const more = await make(`${receiver.url}/more`)
    assert.deepEqual([more.status, more.body.code], [409, 'webhooks_exhausted'])
    const kept = await hub.hub.keep.webhooks.list()
    assert.ok(kept.some(({ url }) => url.endsWith('token=abc12345def')))
  })

  test('are told, once, of a raise and of its end, in a way that can be checked', async () => {
    const before = receiver.seen.length
    await make(`${receiver.url}/all`)
    await make(`${receiver.url}/some`, { kinds: ['database_away'] })
    for (let times = 0; times < 3; times += 1) hub.hub.alerts.raise({ kind: 'books_stalled' })
    await looks(() => receiver.seen.length > before, 'it was told')
    hub.hub.alerts.clear('books_stalled')
    await looks(() => receiver.seen.length > before + 1, 'its end was told')
    await settled()
    const told = receiver.seen.slice(before)
    const bodies = told.map(({ body }) => JSON.parse(body) as { event: string; alert: Shown })
    assert.deepEqual(
      bodies.map(({ event, alert }) => `${event} ${alert.kind} ${alert.state}`),
      ['alert.raised books_stalled active', 'alert.cleared books_stalled cleared'],
    )
    assert.ok(told.every(({ path }) => path === '/all'))

    const isFromHub = await documentedCheck()
    const { body: keys } = await send('/v1/keys/hub')
    const [received] = told
    assert.ok(received)
    const { headers, body } = received
    const request = { method: 'POST', url: `${receiver.url}/all`, headers, body }
    const at = Date.parse(String(bodies[0]?.alert.raised_at)) / 1_000
    const check = (changed: object, now = at) =>
      isFromHub({ ...request, ...changed }, String(keys.public_key), now)
    assert.equal(check({}), true)
    assert.equal(check({ body: `${body} ` }), false)
    assert.equal(check({ url: `${receiver.url}/other` }), false)
    assert.equal(check({ headers: { ...headers, 'idempotency-key': 'x' } }), false)
    assert.equal(check({ headers: {} }), false)
    assert.equal(check({}, at + 600), false)
  })

  test('that are gone are an alert, of which the others are told', async () => {
    const before = receiver.seen.length
    const gone = await startReceiver({ status: 410 })
    const made = await make(`${gone.url}/in`)
    await make(`${receiver.url}/well`, { kinds: ['webhook_failing'] })
    hub.hub.alerts.raise({ kind: 'books_stalled' })
    await looks(async () => (await kinds()).includes('webhook_failing'), 'it was raised')
    await looks(() => receiver.seen.length > before, 'another was told')
    const [alert] = (await listed('?kind=webhook_failing')).alerts
    assert.equal(alert?.subject, made.body.id)
    // Its failures would go on while it is there.
    await remove(String(made.body.id))
    await settled()
    await gone.close()
  })
})

/** The snippet of docs/operate/alerts.md, as a program of its own. */
async function documentedCheck() {
  const [, code = ''] = /```js\n(\/\/ verify\.mjs[\s\S]*?)```/.exec(PAGE) ?? []
  const folder = mkdtempSync(join(tmpdir(), 'chimera-verify-'))
  const file = join(folder, 'verify.mjs')
  writeFileSync(file, code)
  const module = await import(pathToFileURL(file).href)
  rmSync(folder, { recursive: true })
  return module.isFromHub as (request: object, publicKey: string, now: number) => boolean
}

describe('an alert', { timeout: 60_000 }, () => {
  test('is one while it lasts and for a lease after, however often it comes and goes', async () => {
    const { alerts } = hub.hub
    alerts.raise({ kind: 'books_stalled', words: 'first' })
    const [first] = (await listed()).alerts
    assert.deepEqual([first?.message, first?.count, first?.state], ['first', 1, 'active'])
    alerts.clear('books_stalled')
    await clock.advanceBy(LIMITS.alertLeaseMs / 2)
    alerts.raise({ kind: 'books_stalled', words: 'second' })
    const [second, ...more] = (await listed()).alerts
    assert.deepEqual([second?.id, second?.message, more], [first?.id, 'second', []])
    await settled()
    const [over] = (await listed('?state=all&limit=1')).alerts
    assert.deepEqual([over?.id, over?.state], [first?.id, 'cleared'])
    alerts.raise({ kind: 'books_stalled' })
    assert.notEqual((await listed()).alerts[0]?.id, first?.id)
    await settled()
    await hub.hub.settle()
    const facts: string[] = []
    for (let seq = 0; ; ) {
      const page = await hub.hub.keep.trail.sealedAfter(seq)
      if (page.length === 0) break
      for (const { fact } of page) {
        const { type, id } = fact as { type: string; id: string }
        if (id === first?.id) facts.push(type)
      }
      seq = page.at(-1)?.seq ?? seq
    }
    assert.deepEqual(facts, ['alert_raised', 'alert_cleared'])
  })

  test('is acknowledged by an operator, once', async () => {
    hub.hub.alerts.raise({ kind: 'eviction_braked' })
    const [alert] = (await listed()).alerts
    const path = `/v1/alerts/${alert?.id}/acknowledge`
    const done = await send(path, { method: 'POST', token: operator })
    assert.equal(done.status, 200)
    assert.match(String(done.body.acknowledged_by), /^[0-9a-f-]{36}$/)
    const again = await send(path, { method: 'POST', token: operator })
    assert.deepEqual(again.body.acknowledged_at, done.body.acknowledged_at)
    for (const id of [randomUUID(), 'x']) {
      const unknown = await send(`/v1/alerts/${id}/acknowledge`, {
        method: 'POST',
        token: operator,
      })
      assert.deepEqual([unknown.status, unknown.body.code], [404, 'alert_unknown'])
    }
    assert.equal((await listed()).alerts[0]?.state, 'active', 'it stands on')
    await settled()
  })

  test('is listed page by page, and counted for the metrics', async () => {
    hub.hub.alerts.raise({ kind: 'feed_silent', subject: 'a' })
    hub.hub.alerts.raise({ kind: 'feed_silent', subject: 'b' })
    hub.hub.alerts.raise({ kind: 'eviction_braked' })
    const first = await listed('?limit=2')
    const second = await listed(`?limit=2&after=${String(first.next)}`)
    assert.deepEqual([first.alerts.length, second.alerts.length, second.next], [2, 1, undefined])
    assert.deepEqual(await kinds('?kind=eviction_braked'), ['eviction_braked'])
    assert.equal((await send('/v1/alerts?state=over', { token: operator })).status, 400)
    const headers = { authorization: `Bearer ${operator}` }
    const metrics = async () => (await fetch(`${hub.address}/metrics`, { headers })).text()
    assert.match(await metrics(), /^alerts_active\{kind="feed_silent"\} 2$/m)
    await settled()
    assert.match(await metrics(), /^alerts_active\{kind="feed_silent"\} 0$/m)
  })
})

describe('an alert is raised by', { timeout: 60_000 }, () => {
  afterEach(() => settled(), 60_000)

  test('many denied requests in a minute', async () => {
    await clock.advanceBy(60_000 - (clock.now() % 60_000))
    const denied = (count: number) =>
      Promise.all(Array.from({ length: count }, () => send('/economy', { token: 'wrong' })))
    await denied(LIMITS.denialsPerMinute - 1)
    assert.deepEqual(await kinds(), [])
    await denied(1)
    await looks(async () => (await kinds())[0] === 'denials_frequent', 'it was raised')
    await clock.advanceBy(LIMITS.alertEchoMs)
    await looks(async () => (await kinds()).length === 0, 'it ended by itself')
  })

  test('a feed that went silent, until it speaks again', async () => {
    const { feed } = hub.hub
    const alias = 'robin' as Alias
    const holder = { by: 'credential', subject: 'c' } as const
    const hear = (condition: 'idle' | 'paused') => {
      const message = randomUUID() as MessageId
      const updatedAt = clock.now()
      const report = { type: 'report_status', message, alias, condition, updatedAt } as const
      assert.ok(feed.hear({ report, publisher: holder }, clock.now()).ok)
    }
    hear('paused')
    await clock.advanceBy(600_000)
    assert.deepEqual(await kinds(), [], 'silence is no news of one that is paused')
    hear('idle')
    await clock.advanceBy(190_000)
    assert.deepEqual(await kinds(), [])
    await looks(async () => (await kinds())[0] === 'feed_silent', 'its silence was noticed')
    assert.equal((await listed()).alerts[0]?.subject, alias)
    hear('paused')
    await looks(async () => (await kinds()).length === 0, 'it was heard again')
  })

  test('P-8 a message that was given up, under the name of its owner', async () => {
    const about = { kind: 'work', id: 'w' }
    const owner = 'acme' as OwnerId
    const correlation = 'c' as CorrelationId
    const letter = { to: 'http://10.0.0.1/', body: '{}', about, owner, correlation }
    await hub.hub.keep.deliveries.enqueue(letter)
    await looks(async () => (await kinds())[0] === 'letters_undelivered', 'it was raised')
    assert.equal((await listed()).alerts[0]?.subject, 'acme')
  })

  test('books that cannot be kept up, several times in a row', async () => {
    const { money } = hub.hub.keep
    const { endDue } = money
    let failures = 0
    Object.assign(money, {
      endDue: () => {
        failures += 1
        return Promise.reject(new Error('no'))
      },
    })
    await looks(async () => (await kinds())[0] === 'books_stalled', 'it was raised')
    assert.ok(failures >= LIMITS.alertFailures)
    Object.assign(money, { endDue })
    await looks(async () => (await kinds()).length === 0, 'it was over')
  })
})

describe('on an open hub', { timeout: 60_000 }, () => {
  let open: TestHub
  beforeAll(async () => {
    open = await runHub({ clock, seed: 7, allowNet: ['127.0.0.1'] })
  }, 120_000)
  afterAll(() => open.stop())

  test('P-13 the brake against mass eviction is an alert while it holds', async () => {
    for (let each = 0; each < LIMITS.brakeInstances; each += 1) {
      assert.equal((await open.post('/register', registration(`o${each}`))).status, 201)
    }
    await looks(async () => (await kinds('', open))[0] === 'eviction_braked', 'it braked', open)
    await clock.advanceBy(LIMITS.brakeMs)
    await looks(async () => (await kinds('', open)).length === 0, 'it let go', open)
  })

  test('while the database is away, what is seen can be read, and is kept afterwards', async () => {
    const { keep, alerts } = open.hub
    const { check, alerts: kept, webhooks } = keep
    const away = () => Promise.reject(new Error('away'))
    Object.assign(keep, { check: away })
    const real = { ...kept, list: webhooks.list }
    Object.assign(kept, { uphold: away, clearLapsed: away, find: away })
    Object.assign(webhooks, { list: away })
    await looks(async () => (await kinds('', open))[0] === 'database_away', 'it is seen', open)
    const [seen] = (await listed('', open)).alerts
    alerts.raise({ kind: 'books_stalled' })
    alerts.clear('books_stalled')
    await clock.advanceBy(LIMITS.alertLookMs)

    const { list, ...rest } = real
    Object.assign(kept, rest)
    Object.assign(webhooks, { list })
    Object.assign(keep, { check })
    await looks(async () => (await kinds('?state=all', open)).length === 3, 'both are kept', open)
    const history = (await listed('?state=all', open)).alerts
    const [late] = history.filter(({ kind }) => kind === 'database_away')
    assert.deepEqual([late?.id, late?.raised_at], [seen?.id, seen?.raised_at])
    assert.ok(
      history.some(({ kind }) => kind === 'books_stalled'),
      'what was over meanwhile too',
    )
    await settled(open)
  })

  test('messages are not signed: it vouches for nothing', async () => {
    const before = receiver.seen.length
    assert.equal((await open.post('/v1/webhooks', { url: receiver.url })).status, 201)
    open.hub.alerts.raise({ kind: 'feed_silent', subject: 'x' })
    await looks(() => receiver.seen.length > before, 'it came', open)
    const { headers } = receiver.seen[before] ?? {}
    assert.ok(headers?.['idempotency-key'])
    assert.equal(headers.signature, undefined)
    await settled(open)
  })
})
