/** Hubs that count together, on one account in memory that can be slow, full or away. */
import assert from 'node:assert/strict'
import {
  type AllowanceAsked,
  type AllowanceDecided,
  applyAllowance,
  decideAllowance,
  UNTOUCHED,
} from '@chimera/domain/work/allowance'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import { describe, test } from 'vitest'
import type { Paced } from './rate.ts'
import { createSharedRate } from './shared-rate.ts'

const START = 1_800_000_000_000

type Answer = AllowanceDecided | 'away' | 'full'

/** What the database would do, and how often it was asked. */
function createAccount() {
  const accounts = new Map<string, typeof UNTOUCHED>()
  const asked: AllowanceAsked[] = []
  let how: 'well' | 'never' | 'away' | 'full' | 'broken' = 'well'
  return {
    asked,
    accounts,
    be: (next: typeof how) => {
      how = next
    },
    async ask(caller: string, question: AllowanceAsked, now: number): Promise<Answer> {
      asked.push(question)
      if (how === 'never') return new Promise<Answer>(() => undefined)
      if (how === 'broken') throw new Error('refused')
      if (how !== 'well') return how
      await new Promise((resolve) => setImmediate(resolve))
      const before = accounts.get(caller) ?? UNTOUCHED
      const decided = decideAllowance(before, question, now)
      accounts.set(caller, applyAllowance(before, decided.fact))
      return decided
    },
  }
}

function createStage(perMinute: number, hubs = 1, most = 100) {
  const clock = createVirtualClock({ startAt: START })
  const account = createAccount()
  const options = { perMinute, kind: 'caller', allowances: account, sleep: clock.sleep, most }
  const all = Array.from({ length: hubs }, () => createSharedRate(options))
  const hub = (at: number) => all[at % hubs] ?? assert.fail('no hub')
  const take = async (at = 0, name = 'ann') => hub(at).take(name, clock.now())
  const together = (count: number, name = 'ann') =>
    Promise.all(Array.from({ length: count }, (_, at) => take(at, name)))
  return { clock, account, hub, take, together }
}
const letIn = (all: readonly Paced[]) => all.filter(({ ok }) => ok).length

describe('a rate of several hubs', () => {
  test('lets in exactly the limit of all who come at once, each minute', async () => {
    const { clock, account, together } = createStage(60, 3)
    for (const _ of [1, 2, 3]) {
      assert.equal(letIn(await together(300)), 60)
      assert.equal(letIn(await together(30)), 0)
      await clock.advanceBy(61_000)
    }
    // Two of each hub to let in, one of each to learn that it is over.
    assert.ok(account.asked.length <= 3 * 9, `${account.asked.length}`)
  })

  test('H2 asks seldom: what is ahead and what is known to be over cost nothing', async () => {
    const { clock, account, take } = createStage(6_400)
    for (let each = 0; each < 101; each += 1) assert.ok((await take()).ok)
    assert.equal(account.asked.length, 1)
    let [granted, refused] = [101, 0]
    for (let each = 0; each < 9_000; each += 1) {
      if ((await take()).ok) granted += 1
      else refused += 1
    }
    assert.deepEqual([granted, refused], [6_400, 2_701])
    assert.ok(account.asked.length <= 130, `${account.asked.length}`)
    await clock.advanceBy(60_000)
    assert.equal((await take()).ok, false)
    await clock.advanceBy(1_000)
    assert.equal((await take()).ok, true)
  })

  test('is told when to come back, and then let in', async () => {
    const { clock, take } = createStage(2, 2)
    await take(0)
    await take(1)
    const refused = await take(0)
    assert.ok(!refused.ok && refused.refusal === 'rate_exceeded')
    assert.equal(refused.particulars.retryAt, START + 61_000)
    await clock.advanceTo(START + 61_000)
    assert.ok((await take(0)).ok)
  })

  test('is not counted by looking, which goes by what this hub knows', async () => {
    const { clock, hub, take, account } = createStage(1, 2)
    assert.ok(hub(0).look('ann', clock.now()).ok)
    assert.equal(account.asked.length, 0)
    assert.ok((await take(0)).ok)
    assert.ok(hub(1).look('ann', clock.now()).ok)
    assert.equal((await take(1)).ok, false)
    assert.equal(hub(1).look('ann', clock.now()).ok, false)
  })

  test('without a limit asks nobody', async () => {
    const { hub, together, account } = createStage(0)
    assert.equal(letIn(await together(50)), 50)
    assert.deepEqual([account.asked.length, hub(0).size()], [0, 0])
  })

  test('counts each kind and each caller by itself, under no name', async () => {
    const { account, together } = createStage(2)
    assert.deepEqual([letIn(await together(5)), letIn(await together(5, 'bob'))], [2, 2])
    assert.equal(account.accounts.size, 2)
    for (const name of account.accounts.keys()) assert.match(name, /^[\w-]{43}$/)
  })

  test('Q1 is bounded: newcomers beyond it share one count, at all hubs', async () => {
    const { clock, hub, take } = createStage(2, 2, 3)
    for (const name of ['a', 'b', 'c']) {
      for (const at of [0, 1]) assert.ok((await take(at, name)).ok)
    }
    const shared = [await take(0, 'd'), await take(1, 'e'), await take(0, 'f')]
    assert.deepEqual(
      shared.map(({ ok }) => ok),
      [true, true, false],
    )
    assert.deepEqual([hub(0).size(), hub(1).size()], [3, 3])
    await clock.advanceBy(61_000)
    assert.deepEqual([(await take(0, 'd')).ok, (await take(0, 'd')).ok], [true, true])
  })
})

describe('what a hub has ahead', () => {
  test('H4 is given back when its time is over, and when the hub stops', async () => {
    const { clock, hub, take, account } = createStage(640, 2)
    const left = async () => {
      let count = 0
      while ((await take(1)).ok) count += 1
      return count
    }
    assert.ok((await take(0)).ok)
    await hub(0).giveBack(clock.now())
    assert.equal(account.asked.length, 1, 'not before')
    assert.equal(await left(), 640 - 1 - 10)
    await clock.advanceBy(60_000)
    await hub(0).giveBack(clock.now())
    assert.equal(await left(), 10)

    await clock.advanceBy(61_000)
    assert.ok((await take(0)).ok)
    await hub(0).giveBack(clock.now(), 'all')
    assert.equal(await left(), 639)
  })

  test('H4 is not offered for long to a database that is away', async () => {
    const { clock, account, hub, take } = createStage(640, 1, 2_000)
    for (let at = 0; at < 1_100; at += 1) await take(0, `c${at}`)
    account.be('never')
    const asked = account.asked.length
    const giving = hub(0).giveBack(clock.now(), 'all')
    await clock.advanceBy(2_000)
    await giving
    assert.equal(account.asked.length - asked, 500)
  })

  test('L2 is lost for a while with a hub that is killed, and never let in twice', async () => {
    const { clock, take } = createStage(640, 3)
    assert.ok((await take(2)).ok)
    const others = async () => {
      let count = 0
      for (let each = 0; each < 700; each += 1) if ((await take(each % 2)).ok) count += 1
      return count
    }
    assert.equal(await others(), 640 - 1 - 10)
    await clock.advanceBy(61_000)
    assert.equal(await others(), 640 - 10)
    await clock.advanceBy(61_000)
    assert.equal(await others(), 640)
  })
})

describe('while the database', () => {
  test('H3 is away a hub counts by itself, and tells later', async () => {
    const { clock, account, take, together } = createStage(60, 2)
    assert.equal(letIn(await together(20)), 20)
    account.be('away')
    const before = account.asked.length
    assert.equal(letIn(await together(200)), 2 * 60 - 20, 'each hub its own limit')
    assert.ok(account.asked.length <= before + 2, 'asked once by each')
    await clock.advanceBy(1_000)
    account.be('well')
    for (const at of [0, 1]) assert.equal((await take(at)).ok, false, 'what was let in is told')
    await clock.advanceBy(61_000)
    assert.equal(letIn(await together(200)), 60)
  })

  test('H3 does not answer, nobody waits for longer than two seconds', async () => {
    const { clock, account, together } = createStage(60)
    account.be('never')
    const waiting = together(100)
    await clock.advanceBy(2_000)
    assert.equal(letIn(await waiting), 60)
  })

  test('H1 has no room, nobody is told that it asks too often', async () => {
    const { account, together } = createStage(60)
    account.be('full')
    for (const paced of await together(5)) {
      assert.ok(!paced.ok && paced.refusal === 'service_unavailable')
    }
    account.be('well')
    assert.equal(letIn(await together(70)), 60)
  })

  test('refuses the question, those who wait are told, and the next one asks again', async () => {
    const { account, take, together } = createStage(60)
    account.be('broken')
    await assert.rejects(together(5), /refused/)
    account.be('well')
    assert.ok((await take()).ok)
  })

  test('H1 is slow, no more than a bound wait for it', async () => {
    const { clock, account, together } = createStage(0x10000)
    account.be('never')
    const waiting = together(10_050)
    await clock.advanceBy(2_000)
    const full = (await waiting).filter((each) => !each.ok)
    assert.equal(full.length, 50)
  })
})
