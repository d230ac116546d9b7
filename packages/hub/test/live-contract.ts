/**
 * The live feed of a real hub: what is told to whom, and that whoever resumes, anywhere and at any
 * hub, hears exactly what it would have heard without the interruption.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { verifyChain } from '@chimera/domain/audit'
import type { CorrelationId, Digest } from '@chimera/domain/ids'
import { createSeededChance } from '@chimera/host/chance'
import { createClock } from '@chimera/host/clock'
import { canonicalDigest } from '@chimera/identity/canonical'
import { afterAll, afterEach, describe, test } from 'vitest'
import type { Engine } from './engines.ts'
import { type Followed, follow, type Reading, type Told } from './following.ts'
import { createHolding, createShiftedClock } from './holding.ts'
import { createPoster, type Poster } from './posting.ts'
import { counted, type HubWanted, type TestHub } from './running.ts'

const SEED = Number(process.env.SEED ?? 1)
const ALL = '?topics=presence,work,ledger,trust,audit'

export function liveContract(engine: Engine): void {
  const open: TestHub[] = []
  const readings: Reading[] = []
  const start = async (wanted: HubWanted = {}) => {
    const hub = await engine.start(wanted, engine.newPlace())
    open.push(hub)
    return hub
  }
  let everyone: TestHub | undefined
  /** One for all tests that leave it as they found it: starting one takes seconds. */
  const shared = async () => {
    everyone ??= await engine.start({}, engine.newPlace())
    return everyone
  }
  const reader = async (hub: TestHub, query?: string, more?: Followed) => {
    const reading = await follow(hub, query, more)
    readings.push(reading)
    return reading
  }
  afterEach(async () => {
    for (const each of readings.splice(0)) each.leave()
    for (const each of open.splice(0)) await each.stop()
  }, 60_000)
  afterAll(async () => {
    await everyone?.stop()
    await engine.end()
  }, 60_000)

  describe('an open hub', { timeout: 40_000 }, () => {
    test('P-7 tells each fact once, under its topic, with what it is about', async () => {
      const hub = await shared()
      const all = await reader(hub)
      assert.equal(all.headers.get('content-type'), 'text/event-stream; charset=utf-8')
      assert.equal(all.headers.get('set-cookie'), null)
      const poster = await createPoster(hub, createClock())
      await poster.declare()
      await poster.post()
      const { payer, payee } = await openAccounts(hub)
      const transfer = await pay(hub, payer, payee)
      const told = await all.until(({ data }) => data.kind === 'credits_transferred')
      const of = (kind: string) => told.filter(({ data }) => data.kind === kind)
      const [paid] = of('credits_transferred')
      assert.equal(paid?.event, 'ledger')
      const { at: _, seq: __, correlation: ___, ...shown } = paid?.data ?? {}
      assert.deepEqual(shown, {
        kind: 'credits_transferred',
        payer,
        payee,
        amount: 1,
        task_id: transfer.job_id,
        transfer_id: transfer.transfer_id,
      })
      const [seen] = of('instance_seen')
      assert.deepEqual(
        [seen?.event, seen?.data.agent_id, seen?.data.instance_id, seen?.data.state],
        ['presence', poster.id, poster.instance, 'available'],
      )
      assert.equal(seen?.data.owner_id, 'bolt')
      const [joined] = of('agent_registered')
      assert.deepEqual([joined?.event, joined?.data.agent_id], ['presence', poster.id])
      assert.equal(of('key_changed')[0]?.event, 'trust')
      assert.equal(new Set(told.map(({ id }) => id)).size, told.length, 'ids are unique')
      const seqs = told.flatMap(({ data }) => (data.seq === undefined ? [] : [Number(data.seq)]))
      assert.deepEqual(
        seqs,
        [...seqs].sort((a, b) => a - b),
      )
    })

    test('P-7 P-10 audit is the chain itself, whole, from its beginning', async () => {
      const hub = await shared()
      const poster = await createPoster(hub, createClock())
      await poster.declare()
      await poster.post()
      const { payer, payee } = await openAccounts(hub)
      await pay(hub, payer, payee)
      await hub.hub.keep.trail.append(
        { type: 'a_kind_of_tomorrow', at: 1 } as never,
        'c' as CorrelationId,
        1,
      )
      const audit = await reader(hub, '?topics=audit&after=0')
      const told = await audit.until(({ data }) => data.kind === 'a_kind_of_tomorrow')
      const chain = told.map(({ event, data }) => {
        assert.equal(event, 'audit')
        return {
          seq: Number(data.seq),
          prev: data.prev as Digest,
          hash: data.hash as Digest,
          fact: data.fact,
          recordedAt: Number(data.recorded_at),
          correlation: data.correlation as CorrelationId,
        }
      })
      const verified = verifyChain(chain, canonicalDigest)
      assert.ok(verified.ok && verified.count === told.length, JSON.stringify(verified))
    })

    test(`P-7 resumed at any cut it goes on exactly as without (SEED=${SEED})`, async () => {
      const hub = await shared()
      const whole = await reader(hub, ALL)
      const some = await reader(hub, '?topics=presence,ledger')
      const few = await reader(hub, '?topics=ledger')
      const mark = await makeNoise(hub, SEED, 30)
      const isLast = ({ data }: Told) => JSON.stringify(data).includes(mark)
      for (const [query, live] of [
        [ALL, whole],
        ['?topics=presence,ledger', some],
        ['?topics=ledger', few],
      ] as const) {
        const sequence = await live.until(isLast)
        assert.ok(sequence.length > 8, `${query}: ${sequence.length}`)
        for (let cut = 0; cut < sequence.length - 1; cut += 1) {
          const lastId = sequence[cut]?.id ?? ''
          const again = await follow(hub, query, { lastId })
          assert.deepEqual(await again.until(isLast), sequence.slice(cut + 1), `cut at ${lastId}`)
          again.leave()
        }
      }
    })

    test(`P-7 no hole and no double where catching up ends (SEED=${SEED})`, async () => {
      const hub = await shared()
      const first = await reader(hub, ALL)
      const { lastId } = first
      const begin = `${ALL}&after=${lastId() ?? 0}`
      const writing = makeNoise(hub, SEED + 1, 60)
      const late: Reading[] = []
      for (let at = 0; at < 8; at += 1) {
        await first.take(3)
        late.push(await reader(hub, begin))
      }
      const mark = await writing
      const isLast = ({ data }: Told) => JSON.stringify(data).includes(mark)
      const reference = await reader(hub, begin)
      const sequence = await reference.until(isLast)
      for (const each of late) assert.deepEqual(await each.until(isLast), sequence)
    })

    test('filters leave out what was not asked for', async () => {
      const hub = await shared()
      const posters = [
        await createPoster(hub, createClock()),
        await createPoster(hub, createClock()),
      ] as const
      for (const each of posters) await each.declare()
      const { payer, payee } = await openAccounts(hub)
      const [one, other] = [await pay(hub, payer, payee), await pay(hub, payer, payee)]
      const agent = await reader(hub, `?after=0&agent_id=${posters[1].id}`)
      const task = await reader(hub, `?after=0&task_id=${other.job_id}`)
      const owner = await reader(hub, `?after=0&topics=ledger&owner_id=${payee}`)
      await posters[0].post()
      await posters[1].post()
      const ofAgent = await agent.until(({ data }) => data.kind === 'instance_seen')
      assert.ok(ofAgent.every(({ data }) => data.agent_id === posters[1].id))
      assert.deepEqual([(await task.take(1))[0]?.data.transfer_id], [other.transfer_id])
      const ofOwner = await owner.until(({ data }) => data.transfer_id === other.transfer_id)
      assert.ok(ofOwner.some(({ data }) => data.transfer_id === one.transfer_id))
      assert.ok(ofOwner.every(({ data }) => [data.owner_id, data.payee].includes(payee)))
    })

    test('P-7 what is not kept, and what no hub has said, is a gap', async () => {
      const { clock, pass } = createShiftedClock()
      const hub = await start({ clock })
      const poster = await createPoster(hub, clock)
      await poster.declare()
      await poster.post()
      const early = await reader(hub, '?topics=presence&after=0')
      const [old] = (await early.until(({ data }) => data.kind === 'instance_seen')).slice(-1)
      pass(49 * 60 * 60 * 1_000)
      await hub.hub.keep.presence.turnDays()
      await poster.post()

      const kept = await reader(hub, '?topics=presence', { lastId: old?.id ?? '' })
      const [gap, ...next] = await kept.until(({ data }) => data.kind === 'instance_seen')
      assert.equal(gap?.event, 'gap')
      assert.deepEqual([gap?.data.from, gap?.data.why], [old?.id, 'not_kept'])
      assert.deepEqual(gap?.data.topics, ['presence'])
      assert.equal(next.at(-1)?.data.kind, 'instance_seen', 'what is kept comes all the same')
      const facts = await reader(hub, '?topics=audit', { lastId: '0' })
      assert.equal((await facts.take(1))[0]?.data.seq, 1, 'facts are kept for ever')

      const { seq } = hub.hub.scores
      for (const unknown of ['yesterday', `${seq() + 1_000}.1.0`, `${seq()}.999999999999.0`]) {
        const lost = await reader(hub, '?topics=presence', { lastId: unknown })
        const [told] = await lost.take(1)
        assert.deepEqual(
          [told?.event, told?.data.from, told?.data.why],
          ['gap', unknown, 'unknown'],
        )
        await poster.post()
        assert.equal((await lost.take(1))[0]?.event, 'presence', 'and it goes on from now')
      }
      const asked = await hub.get('/v1/live?after=yesterday')
      assert.equal(asked.status, 400)
    })

    test('a reader that takes nothing is cut off, and others are not held up', async () => {
      const hub = await shared()
      const wide = 'x'.repeat(20_000)
      const { payer, payee } = await openAccounts(hub)
      const readers = () => hub.hubs.reduce((sum, each) => sum + each.hub.live.size(), 0)
      // Readers of the test before leave when the hub notices.
      while (readers() > 0) await hub.hub.keep.check()
      const stuck = await fetch(`${hub.address}/v1/live?topics=audit`)
      const quick = await reader(hub, '?topics=audit')
      for (let at = 0; at < 40 && readers() > 1; at += 1) {
        for (let each = 0; each < 25; each += 1) {
          const fact = { type: 'wide', at, each, wide }
          await hub.hub.keep.trail.append(fact as never, 'c' as CorrelationId, at)
        }
        await hub.hub.settle()
        await quick.take(25)
      }
      assert.equal(readers(), 1)
      const { transfer_id } = await pay(hub, payer, payee)
      await quick.until(({ data }) => JSON.stringify(data).includes(transfer_id))
      assert.equal(await counted(hub, 'live_cut_total{why="slow"}'), 1)
      // Whoever reads on finds the last word, and an id to resume with.
      const heard = await stuck.text().catch(() => '')
      if (heard !== '') assert.match(heard, /event: cut\ndata: \{"why":"slow","after":"\d+\./)
    })

    test('there are as many readers as the hub allows; the next is told to come back', async () => {
      const hub = await start({ liveReaders: 2 })
      const first = await reader(hub)
      for (let more = 2 * hub.hubs.length - 1; more > 0; more -= 1) await reader(hub)
      const refused = await fetch(`${hub.address}/v1/live`)
      assert.equal(refused.status, 503)
      assert.ok(Number(refused.headers.get('retry-after')) > 0)
      await refused.text()
      first.leave()
      let status = 503
      while (status === 503) {
        const next = await reader(hub)
        status = next.status
      }
      assert.equal(status, 200)
      assert.equal((await fetch(`${hub.address}/v1/live`, { method: 'HEAD' })).status, 404)
    })

    test('a hub that stops ends its streams with a word', async () => {
      const hub = await start()
      const reading = await reader(hub)
      const begun = performance.now()
      await hub.stop()
      open.splice(0)
      const [last] = (await reading.rest()).slice(-1)
      assert.deepEqual([last?.event, last?.data.why], ['cut', 'stopping'])
      assert.ok(performance.now() - begun < 5_000)
    })
  })

  describe('a hub that asks who it is', { timeout: 40_000 }, () => {
    test('tells owners their own, operators all, and strangers nothing', async () => {
      const hub = await start({ auth: 'required' })
      const holding = createHolding(hub, createClock())
      const { hirer, agent } = await holding.newPair()
      const stranger = await holding.newOwner()
      const as = (token: string, query = '?after=0') => reader(hub, query, { token })
      assert.equal((await reader(hub)).status, 401)
      assert.equal((await as(hirer.token, '?topics=audit')).status, 403)
      const narrow = await holding.narrower(hirer.token, { scopes: ['money'] })
      assert.equal((await as(narrow.token)).status, 403)

      const task = randomUUID()
      const id = await holding.placed(hirer, agent, 2.5, { task_id: task })
      assert.equal((await holding.capture(agent, id)).status, 200)
      const isCapture = ({ data }: Told) => data.kind === 'hold_captured'
      const [payer, payee, other, operator] = await Promise.all([
        as(hirer.token).then((each) => each.until(isCapture)),
        as(agent.token).then((each) => each.until(isCapture)),
        as(stranger.token).then((each) => each.until(isCapture)),
        as(holding.operator, `${ALL}&after=0`).then((each) => each.until(isCapture)),
      ])
      const money = (told: readonly Told[]) => told.filter(({ event }) => event === 'ledger')
      for (const own of [payer, payee]) {
        const kinds = money(own).map(({ data }) => data.kind)
        for (const kind of ['credits_held', 'hold_confirmed', 'hold_captured']) {
          assert.ok(kinds.includes(kind), `${kind} in ${kinds.join()}`)
        }
        const [captured] = own.filter(isCapture)
        assert.deepEqual(
          [captured?.data.agent_id, captured?.data.task_id, captured?.data.amount],
          [agent.id, task, 2.5],
        )
      }
      assert.ok(money(payer).every(({ data }) => data.owner_id !== agent.owner || data.payer))
      assert.deepEqual(money(other), [], 'nothing of the money of others')
      const [outcome] = other.filter(isCapture)
      assert.equal(outcome?.event, 'trust')
      const { at: _, seq: __, ...public_ } = outcome?.data ?? {}
      assert.deepEqual(public_, {
        kind: 'hold_captured',
        agent_id: agent.id,
        owner_id: agent.owner,
      })
      assert.ok(operator.every(({ event }) => event === 'audit'))

      // Asking about a party must not tell that it is one.
      const asked = await as(stranger.token, `?after=0&owner_id=${hirer.owner}`)
      const leaving = { token: hirer.token, method: 'DELETE' }
      assert.equal((await holding.send(`/agents/${hirer.id}`, leaving)).status, 204)
      const all = await asked.until(({ data }) => data.kind === 'agent_removed')
      assert.ok(all.length > 1 && all.every(({ data }) => data.agent_id === hirer.id))
    })

    test('whoever loses its token hears nothing more', async () => {
      const hub = await start({ auth: 'required' })
      const holding = createHolding(hub, createClock())
      const { token, id } = await holding.newOwner()
      const reading = await reader(hub, '', { token })
      const by = { token: holding.operator, method: 'DELETE' }
      assert.equal((await holding.send(`/v1/tokens/${id}`, by)).status, 204)
      const [last] = (await reading.rest()).slice(-1)
      assert.deepEqual([last?.event, last?.data.why], ['cut', 'revoked'])
      assert.equal((await reader(hub, '', { token })).status, 401)
    })
  })

  if (engine.shares) severalHubs(engine, open, reader)
}

function severalHubs(
  engine: Engine,
  open: TestHub[],
  reader: (hub: TestHub, query?: string, more?: Followed) => Promise<Reading>,
): void {
  test(`P-7 AV-10 two hubs tell the same in the same order (SEED=${SEED})`, {
    timeout: 120_000,
  }, async () => {
    const place = engine.newPlace()
    const one = await engine.start({ seed: 1 }, place)
    const two = await engine.start({ seed: 2 }, place)
    open.push(one, two)
    const [atOne, atTwo] = [
      await reader(one, `${ALL}&after=0`),
      await reader(two, `${ALL}&after=0`),
    ]
    await Promise.all([makeNoise(one, SEED + 2, 25), makeNoise(two, SEED + 3, 25)])
    const mark = await makeNoise(two, SEED + 4, 1)
    const isLast = ({ data }: Told) => JSON.stringify(data).includes(mark)
    const told = await atOne.until(isLast)
    assert.deepEqual(await atTwo.until(isLast), told)
    assert.ok(told.some(({ event }) => event === 'presence'))
    // Cut at one, resumed at the other.
    const chance = createSeededChance(SEED)
    for (let round = 0; round < 12; round += 1) {
      const cut = Math.floor(chance.fraction() * (told.length - 1))
      const hub = round % 2 === 0 ? two : one
      const again = await reader(hub, ALL, { lastId: told[cut]?.id ?? '' })
      assert.deepEqual(await again.until(isLast), told.slice(cut + 1))
    }
  })
}

async function openAccounts(hub: TestHub) {
  const [payer, payee] = [`payer-${randomUUID()}`, `payee-${randomUUID()}`]
  for (const owner_id of [payer, payee]) {
    assert.equal((await hub.post('/accounts', { owner_id, initial_balance: 100 })).status, 201)
  }
  return { payer, payee }
}

async function pay(hub: TestHub, payer: string, payee: string) {
  const order = {
    transfer_id: randomUUID(),
    from_owner: payer,
    to_owner: payee,
    amount: 1,
    job_id: randomUUID(),
  }
  assert.equal((await hub.post('/transfer', order)).status, 200)
  return order
}

/** Payments and posts, some at once; answers what the last one can be known by. */
async function makeNoise(hub: TestHub, seed: number, count: number): Promise<string> {
  const chance = createSeededChance(seed)
  const posters: Poster[] = []
  for (let at = 0; at < 2; at += 1) {
    const poster = await createPoster(hub, createClock())
    await poster.declare()
    posters.push(poster)
  }
  const { payer, payee } = await openAccounts(hub)
  let waiting: Promise<unknown>[] = []
  for (let at = 0; at < count; at += 1) {
    const poster = posters[at % posters.length]
    waiting.push(
      chance.fraction() < 0.5 ? pay(hub, payer, payee) : (poster?.post() ?? pay(hub, payer, payee)),
    )
    if (chance.fraction() < 0.6) {
      await Promise.all(waiting)
      waiting = []
    }
  }
  await Promise.all(waiting)
  return (await pay(hub, payer, payee)).transfer_id
}
