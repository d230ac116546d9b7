/**
 * Deliveries by a real hub to a real receiver, on a virtual clock: what arrives, when it is tried
 * again, what becomes of what cannot be delivered, and who may see that.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { CorrelationId, OwnerId } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import { createSeenNonces } from '@chimera/identity/freshness'
import { verifyRequest } from '@chimera/identity/http-signature'
import { createKeyring } from '@chimera/identity/keyring'
import { afterAll, afterEach, beforeAll, beforeEach, describe, test } from 'vitest'
import type { NewDelivery } from '../src/ports/deliveries.ts'
import { type Asker, createAsker } from './asking.ts'
import type { Engine } from './engines.ts'
import {
  type Behaviour,
  eventually,
  type Received,
  type Receiver,
  startReceiver,
} from './receiving.ts'
import { counted, type TestHub } from './running.ts'

const message = (to: string, more: Partial<NewDelivery> = {}) => ({
  id: randomUUID(),
  to,
  body: '{"job_id":"ü"}',
  about: { kind: 'work', id: 'job-1' },
  correlation: 'c-1' as CorrelationId,
  ...more,
})

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

export function deliveriesContract(open: () => Engine): void {
  const clock = createVirtualClock()
  let engine: Engine
  let hub: TestHub
  let asker: Asker
  let receiver: Receiver
  let operator = ''
  const wanted = { auth: 'required', allowNet: ['127.0.0.1'], clock } as const

  beforeAll(async () => {
    engine = open()
    hub = await engine.start({ ...wanted, seed: 1 })
    asker = createAsker(hub, clock)
    operator = asker.operator
  }, 120_000)
  beforeEach(async () => {
    receiver = await startReceiver()
  })
  afterEach(() => receiver.close())
  afterAll(async () => {
    await hub.stop()
    await engine.end()
  }, 60_000)

  const outbox = () => hub.hub.keep.deliveries
  const letters = () => hub.hub.keep.letters
  const enqueue = async (delivery: NewDelivery & { readonly id: string }) => {
    assert.deepEqual(await outbox().enqueue(delivery), { ok: true })
    return delivery.id
  }
  /** Moves the clock by looks of the loop until it is so. */
  async function ticking(is: () => boolean | Promise<boolean>, what: string): Promise<void> {
    let looks = 0
    await eventually(async () => {
      if (await is()) return true
      looks += 1
      if (looks % 5 === 0) await clock.advanceBy(LIMITS.deliveryLookMs)
      await hub.hub.keep.check()
      return false
    }, what)
  }
  const arrived = (count: number) =>
    ticking(() => receiver.seen.length >= count, `${count} messages came`)
  const dead = async (id: string) => {
    await ticking(async () => (await letters().read(id)) !== undefined, 'it was given up')
    return letters().read(id)
  }
  const gone = (id: string) =>
    eventually(async () => (await outbox().claimLetter(id, 'look')) === undefined, 'it was gone')
  /** How many attempts have failed and are recorded. */
  async function failures(): Promise<number> {
    await hub.hub.keep.check()
    return counted(hub, 'deliveries_total{outcome="attempt_failed"}')
  }
  const failed = (count: number) =>
    eventually(async () => (await failures()) >= count, `${count} attempts failed`)

  /** What is left over by one test must not reach the receiver of the next. */
  afterEach(async () => {
    receiver.letGo(204)
    receiver.behave({ status: 204 })
  })

  describe('P-8 a message', { timeout: 60_000 }, () => {
    test('is signed by the hub, and carries its id and correlation', async () => {
      const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
      const id = await enqueue(message(`${receiver.url}/in?a=1#b`, { traceparent: trace }))
      await arrived(1)
      await gone(id)
      const [received] = receiver.seen
      assert.ok(received)
      assert.deepEqual([received.path, received.body], ['/in?a=1', '{"job_id":"ü"}'])
      const { headers } = received
      assert.deepEqual(
        [headers['idempotency-key'], headers['x-correlation-id'], headers.traceparent],
        [id, 'c-1', trace],
      )
      assert.equal(headers['content-type'], 'application/json')
      const verdict = await verified(received, `${receiver.url}/in?a=1`)
      assert.ok(verdict.ok)
      for (const each of ['@method', '@target-uri', 'content-digest', 'idempotency-key']) {
        assert.ok(verdict.covered.has(each), each)
      }
      assert.equal((await verified(received, `${receiver.url}/other`)).ok, false)
      const altered = { ...received, body: '{"job_id":"x"}' }
      assert.equal((await verified(altered, `${receiver.url}/in?a=1`)).ok, false)
    })

    test('that fails is tried again, not before its time, under the same id', async () => {
      const before = await failures()
      receiver.behave({ status: 500 })
      const id = await enqueue(message(receiver.url))
      await arrived(1)
      await failed(before + 1)
      receiver.behave({ status: 503, headers: { 'retry-after': '120' } })
      await arrived(2)
      await failed(before + 2)
      receiver.behave({ status: 200 })
      await clock.advanceBy(118_000)
      await hub.hub.keep.check()
      assert.equal(receiver.seen.length, 2)
      await arrived(3)
      await gone(id)
      const ids = receiver.seen.map(({ headers }) => headers['idempotency-key'])
      assert.deepEqual(ids, [id, id, id])
      const inputs = receiver.seen.map(({ headers }) => headers['signature-input'])
      assert.equal(new Set(inputs).size, 3, 'each is signed anew')
    })

    // biome-ignore format: a table is read by its columns
    const rows: [what: string, how: Behaviour][] = [
      ['that is refused is tried again',          { status: 404 }],
      ['that is cut off, too',                    'cut'],
      ['that is never answered, too',             'hang'],
      ['that is sent elsewhere, at its own place', { status: 307, headers: { location: '/else' } }],
    ]
    for (const [what, how] of rows) {
      test(what, async () => {
        const before = await failures()
        receiver.behave(how)
        const id = await enqueue(message(receiver.url))
        await arrived(1)
        receiver.behave({ status: 204 })
        if (how === 'hang') await clock.advanceBy(LIMITS.deliveryMs)
        await failed(before + 1)
        await arrived(2)
        await gone(id)
        assert.deepEqual(
          receiver.seen.map(({ path }) => path),
          ['/', '/'],
        )
      })
    }

    test('to an address that may not be dialled is given up at once', async () => {
      const refused = ['http://10.0.0.1/', 'http://[::1]:80/', 'http://0x7f.2/', 'nonsense']
      for (const to of refused) {
        const id = await enqueue(message(to))
        const letter = await dead(id)
        assert.deepEqual([letter?.trouble, letter?.attempts], ['refused_address', 1], to)
      }
    })

    test('to one that is gone, too', async () => {
      receiver.behave({ status: 410 })
      const letter = await dead(await enqueue(message(receiver.url)))
      assert.deepEqual([letter?.trouble, letter?.status, letter?.attempts], ['gone', 410, 1])
    })

    test('is not held up by a receiver that is slow with others', async () => {
      const slow = await startReceiver('hang')
      const full = LIMITS.deliveriesPerHost * hub.hubs.length
      const many = full * 3
      const ids = await Promise.all(Array.from({ length: many }, () => enqueue(message(slow.url))))
      await ticking(() => slow.seen.length === full, 'the slow one is full')
      const id = await enqueue(message(receiver.url))
      await arrived(1)
      await gone(id)
      assert.equal(slow.seen.length, full)
      slow.behave({ status: 204 })
      slow.letGo(204)
      await ticking(() => slow.seen.length === many, 'all came')
      for (const each of ids) await gone(each)
      await slow.close()
    })

    test('that a killed hub had claimed is brought by another', async () => {
      const id = await enqueue(message(receiver.url))
      // The clock stands still, so the running hub does not look meanwhile.
      const claim = { claim: randomUUID(), most: 9, except: [] }
      const claimed = await outbox().claim(claim)
      assert.deepEqual(
        claimed.map((each) => each.id),
        [id],
      )
      await clock.advanceBy(LIMITS.deliveryClaimMs - 2_000)
      await hub.hub.keep.check()
      assert.equal(receiver.seen.length, 0)
      await arrived(1)
      await gone(id)
      assert.equal(receiver.seen[0]?.headers['idempotency-key'], id)
    })
  })

  describe('a stop', { timeout: 60_000 }, () => {
    test('waits for what is under way; what hangs is given back and brought later', async () => {
      receiver.behave('hang')
      const first = await enqueue(message(receiver.url))
      await arrived(1)
      const stopping = hub.stop()
      receiver.letGo(204)
      await stopping

      hub = await engine.start({ ...wanted, seed: 2 })
      await gone(first)
      const second = await enqueue(message(receiver.url))
      await arrived(2)
      const over = new AbortController()
      const stopped = hub.stop().finally(() => over.abort())
      // The turn of the deliveries has come when the time that they have is running; of several
      // hubs each has its own turn.
      while (!over.signal.aborted) {
        const finish = clock.now() + 3_000
        if (clock.pending().includes(finish)) await clock.advanceTo(finish)
        else await turn()
      }
      await stopped

      hub = await engine.start({ ...wanted, seed: 3 })
      asker = { ...createAsker(hub, clock), operator }
      receiver.letGo(204)
      receiver.behave({ status: 204 })
      await arrived(3)
      await gone(second)
      const ids = receiver.seen.map(({ headers }) => headers['idempotency-key'])
      assert.deepEqual(ids, [first, second, second])
    })
  })

  describe('P-8 dead letters', { timeout: 60_000 }, () => {
    type Shown = { id: string; attempts: number; last_error: Record<string, unknown> }
    const send: Asker['send'] = (path, sent) => asker.send(path, sent)
    async function undelivered(owner?: string) {
      receiver.behave({ status: 410 })
      const id = await enqueue(
        message(`${receiver.url}/${randomUUID()}`, owner ? { owner: owner as OwnerId } : {}),
      )
      await dead(id)
      return id
    }
    async function newOwner() {
      const owner = `owner-${randomUUID()}`
      const { body } = await send('/v1/owners', { token: operator, body: { owner_id: owner } })
      return { owner, token: String(body.token) }
    }
    const listed = async (token: string, query = '') => {
      const { status, body } = await send(`/v1/dead-letters${query}`, { token })
      assert.equal(status, 200)
      const shown = body.letters as readonly Shown[]
      return { ids: shown.map(({ id }) => id), next: body.next_after, shown }
    }

    test('are for their owner and for operators, and for nobody else', async () => {
      const [ann, bob] = [await newOwner(), await newOwner()]
      const [own, other, nobodys] = [
        await undelivered(ann.owner),
        await undelivered(bob.owner),
        await undelivered(),
      ]
      assert.deepEqual((await listed(ann.token)).ids, [own])
      assert.deepEqual((await listed(ann.token, `?owner_id=${ann.owner}`)).ids, [own])
      const foreign = await send(`/v1/dead-letters?owner_id=${bob.owner}`, { token: ann.token })
      assert.equal(foreign.status, 403)
      const all = (await listed(operator)).ids
      for (const each of [own, other, nobodys]) assert.ok(all.includes(each))
      assert.deepEqual((await listed(operator, `?owner_id=${bob.owner}`)).ids, [other])

      const calls = [
        ['GET', ''],
        ['POST', '/redeliver'],
        ['DELETE', ''],
      ] as const
      for (const [method, end] of calls) {
        for (const id of [other, nobodys, randomUUID(), 'x']) {
          const { status, body } = await send(`/v1/dead-letters/${id}${end}`, {
            method,
            token: ann.token,
          })
          assert.deepEqual([status, body.code], [404, 'letter_unknown'], `${method} ${id}`)
        }
      }
      const reader = await asker.narrower(ann.token, { scopes: ['read'] })
      assert.deepEqual((await listed(reader.token)).ids, [own])
      for (const [method, end] of calls.slice(1)) {
        const path = `/v1/dead-letters/${own}${end}`
        assert.equal((await send(path, { method, token: reader.token })).status, 403)
        assert.equal((await send(path, { method })).status, 401)
      }
    })

    test('say what was sent, how often, and why not, in words of our own', async () => {
      const { owner, token } = await newOwner()
      const id = await undelivered(owner)
      const { body } = await send(`/v1/dead-letters/${id}`, { token })
      assert.equal(body.body, '{"job_id":"ü"}')
      assert.deepEqual([body.attempts, body.about], [1, { kind: 'work', id: 'job-1' }])
      assert.deepEqual(body.last_error, {
        code: 'gone',
        message: 'The address answered 410: it wants no more messages.',
        http_status: 410,
      })
    })

    test('are redelivered by hand, once, and stay letters if that fails', async () => {
      const { owner, token } = await newOwner()
      const id = await undelivered(owner)
      const path = `/v1/dead-letters/${id}/redeliver`
      receiver.behave({ status: 500 })
      const failed = await send(path, { method: 'POST', token })
      assert.deepEqual([failed.status, failed.body.state], [200, 'failed'])
      assert.deepEqual((failed.body.last_error as Shown['last_error']).http_status, 500)
      const [again] = (await listed(token)).shown
      assert.deepEqual([again?.id, again?.attempts], [id, 2])

      receiver.behave({ status: 201 })
      const done = await send(path, { method: 'POST', token })
      assert.deepEqual(done, { status: 200, body: { state: 'delivered', http_status: 201 } })
      assert.deepEqual((await listed(token)).ids, [])
      assert.equal((await send(path, { method: 'POST', token })).status, 404)
      assert.equal(receiver.seen.at(-1)?.headers['idempotency-key'], id)
    })

    // biome-ignore format: a table is read by its columns
    const reasons: [how: Behaviour, code: string, status: number | undefined][] = [
      [{ status: 400 }, 'answered_otherwise', 400],
      [{ status: 503 }, 'answered_otherwise', 503],
      [{ status: 410 }, 'gone',               410],
      ['cut',           'network',            undefined],
      ['hang',          'timeout',            undefined],
    ]
    test('name the reason of the last attempt', async () => {
      const { owner, token } = await newOwner()
      const id = await undelivered(owner)
      for (const [how, code, status] of reasons) {
        const before = receiver.seen.length
        receiver.behave(how)
        const asked = send(`/v1/dead-letters/${id}/redeliver`, { method: 'POST', token })
        await receiver.came(before + 1)
        if (how === 'hang') await clock.advanceBy(LIMITS.deliveryMs)
        await asked
        await dead(id)
        const [letter] = (await listed(token)).shown
        assert.deepEqual([letter?.last_error.code, letter?.last_error.http_status], [code, status])
      }
    })

    test('follow no redirect to the inside, whatever its kind', async () => {
      const inside = await startReceiver()
      const { owner, token } = await newOwner()
      const id = await undelivered(owner)
      for (const status of [301, 302, 303, 307, 308]) {
        receiver.behave({ status, headers: { location: `${inside.url}/admin` } })
        const path = `/v1/dead-letters/${id}/redeliver`
        const { body } = await send(path, { method: 'POST', token })
        assert.equal((body.last_error as Shown['last_error']).code, 'redirected', `${status}`)
      }
      assert.deepEqual(inside.seen, [])
      await inside.close()
    })

    test('that take long are redelivered without their caller', async () => {
      const { owner, token } = await newOwner()
      const id = await undelivered(owner)
      const before = receiver.seen.length
      receiver.behave('hang')
      const path = `/v1/dead-letters/${id}/redeliver`
      const asked = send(path, { method: 'POST', token })
      await receiver.came(before + 1)
      const [second] = await Promise.all([
        send(path, { method: 'POST', token }),
        clock.advanceBy(LIMITS.redeliveryWaitMs),
      ])
      assert.equal(second.status, 404, 'it is no letter meanwhile')
      assert.deepEqual(await asked, { status: 202, body: { state: 'under_way' } })
      receiver.letGo(204)
      await gone(id)
      assert.equal(receiver.seen.length, before + 1)
    })

    test('are deleted, filtered and read page by page', async () => {
      const { owner, token } = await newOwner()
      const ids: string[] = []
      for (let each = 0; each < 3; each += 1) ids.unshift(await undelivered(owner))
      const first = await listed(token, '?limit=2')
      assert.deepEqual(first.ids, ids.slice(0, 2))
      const second = await listed(token, `?limit=2&after=${String(first.next)}`)
      assert.deepEqual([second.ids, second.next], [ids.slice(2), undefined])
      assert.deepEqual((await listed(token, '?about=webhook')).ids, [])
      assert.equal((await send('/v1/dead-letters?limit=0', { token })).status, 400)
      const [last = ''] = ids
      const remove = () => send(`/v1/dead-letters/${last}`, { method: 'DELETE', token })
      assert.deepEqual([(await remove()).status, (await remove()).status], [204, 404])
      assert.deepEqual((await listed(token)).ids, ids.slice(1))
    })
  })

  const verified = (received: Received, url: string) =>
    verifyRequest(
      { method: 'POST', url, headers: received.headers, body: Buffer.from(received.body) },
      {
        now: clock.now(),
        keyOf: () => hub.hub.key?.publicKey,
        keyring: createKeyring(),
        nonces: createSeenNonces(),
        also: ['idempotency-key', 'x-correlation-id'],
      },
    )
}
