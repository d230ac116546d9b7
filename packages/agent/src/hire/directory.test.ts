/** The planner's own directory, under a virtual clock: one row, one rule of AV-6 and AV-7. */
import assert from 'node:assert/strict'
import { encodeCapability, encodePresence } from '@chimera/dialects/moltbook'
import type { AgentId, CorrelationId, InstanceId, PublicKey } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import { type Announcement, presenceExpiry } from '@chimera/domain/presence/presence'
import { createSeededChance } from '@chimera/host/chance'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import { generateKeyPair, type KeyPair } from '@chimera/identity/keys'
import { signMessage } from '@chimera/identity/message'
import { describe, test } from 'vitest'
import { createDirectory, type DirectoryOptions } from './directory.ts'

const AGENT = '0b6f2ab0-5f0e-4c1e-9f43-0c7a5b9d2e11' as AgentId
const OTHER = '1b6f2ab0-5f0e-4c1e-9f43-0c7a5b9d2e11' as AgentId
const instanceOf = (digit: number) => `${digit}c2d9e10-8b4a-4f6d-a1c3-5e7f9a0b1c33` as InstanceId
const FIRST = instanceOf(1)
const CADENCE = LIMITS.presenceCadenceMs
const NEED = { required: ['count'], slots: 1 }

function stage(more: Partial<DirectoryOptions> = {}) {
  const clock = createVirtualClock()
  const key = generateKeyPair()
  const keys = new Map<AgentId, PublicKey>([
    [AGENT, key.publicKey],
    [OTHER, key.publicKey],
  ])
  const keyOf = (agent: AgentId) => keys.get(agent)
  const directory = createDirectory({ clock, chance: createSeededChance(1), keyOf, ...more })

  const announcing = (of: Partial<Announcement> = {}): Announcement => {
    const { availability = 'available', signedAt = clock.now() } = of
    return {
      agent: AGENT,
      instance: FIRST,
      availability,
      capabilities: ['count'],
      slotsTotal: 4,
      slotsFree: 4,
      load: { cpu: 0.1, mem: 0.1 },
      signedAt,
      expiresAt: presenceExpiry(availability, signedAt),
      correlation: 'trace' as CorrelationId,
      ...of,
    }
  }
  const post = (of: Partial<Announcement> = {}, by: KeyPair = key) =>
    directory.hear(signMessage(encodePresence(announcing(of)), by))
  const declare = (instance: InstanceId, callback: string, by: KeyPair = key) => {
    const { agent, availability, capabilities, signedAt, expiresAt, correlation } = announcing()
    const told = { agent, availability, capabilities, signedAt, expiresAt, correlation }
    const type = 'declare_capabilities'
    const claimedKey = by.publicKey
    return directory.hear(
      signMessage(encodeCapability({ type, instance, callback, claimedKey, ...told }), by),
    )
  }
  const found = () => directory.find(NEED).map(({ entry }) => entry.instance)
  return { clock, key, keys, directory, announcing, post, declare, found }
}

describe('AV-6: who is listed', () => {
  test('a first-ever post counts at once', async () => {
    const { post, found } = stage()
    assert.equal(await post(), 'verified')
    assert.deepEqual(found(), [FIRST])
  })

  test('after three missed cadences it is offline, whoever sweeps', async () => {
    const { post, found, clock, directory } = stage()
    await post()
    await clock.advanceBy(3 * CADENCE - 1)
    assert.deepEqual(found(), [FIRST])
    await clock.advanceBy(1)
    assert.deepEqual(found(), [])
    assert.equal(directory.entries()[0]?.liveness, 'offline')
  })

  test('a rise after a flap needs two posts in a row', async () => {
    const { post, found, clock } = stage()
    await post()
    await clock.advanceBy(5 * CADENCE)
    await post()
    assert.deepEqual(found(), [])
    await clock.advanceBy(CADENCE)
    await post()
    assert.deepEqual(found(), [FIRST])
  })

  test('who goes says so, and is gone at once', async () => {
    const { post, found, clock } = stage()
    await post()
    await clock.advanceBy(1)
    await post({ availability: 'offline' })
    assert.deepEqual(found(), [])
  })

  test('who drains takes nothing new', async () => {
    const { post, found, clock } = stage()
    await post()
    await clock.advanceBy(1)
    await post({ availability: 'draining' })
    assert.deepEqual(found(), [])
  })

  test('when all fall silent at once, they are kept as suspects: it is presumably us', async () => {
    const { post, directory, clock } = stage()
    for (let digit = 1; digit <= 6; digit += 1) await post({ instance: instanceOf(digit) })
    await clock.advanceBy(4 * CADENCE)
    assert.deepEqual([...new Set(directory.entries().map(({ liveness }) => liveness))], ['suspect'])
  })
})

describe('AV-6: what is not believed', () => {
  type Stage = ReturnType<typeof stage>
  // biome-ignore format: a table is read by its columns
  const rows: [why: string, hear: (at: Stage) => Promise<string>, verdict: string][] = [
    ['somebody else\'s signature', ({ post }) => post({}, generateKeyPair()),                     'signature_invalid'],
    ['an agent that nobody knows', ({ post, keys }) => { keys.clear(); return post() },            'agent_unknown'],
    ['the same post again',        async ({ post }) => { await post(); return post() },            'message_replayed'],
    ['an older one',               async ({ post, clock }) => { await post(); return post({ signedAt: clock.now() - 1 }) }, 'message_outdated'],
    ['one past its expiry',        ({ post, clock }) => post({ signedAt: clock.now() - 3 * CADENCE }), 'message_expired'],
    ['one from the future',        ({ post, clock }) => post({ signedAt: clock.now() + 2 * LIMITS.skewMs }), 'message_early'],
    ['one that lasts too long',    ({ post, clock }) => post({ expiresAt: clock.now() + LIMITS.presenceTtlMs + 1 }), 'expiry_too_far'],
    ['another agent\'s instance',  async ({ post, clock }) => { await post(); await clock.advanceBy(1); return post({ agent: OTHER }) }, 'caller_forbidden'],
    ['a key that is not bound',    ({ declare }) => declare(FIRST, 'http://a.example/', generateKeyPair()), 'signature_invalid'],
    ['no message at all',          ({ directory }) => directory.hear({ hello: 'world' }),          'malformed'],
    ['a name twice in the bytes',  ({ directory }) => directory.hear(Buffer.from('{"a":1,"a":2}')), 'malformed'],
  ]
  for (const [why, hear, verdict] of rows) {
    test(why, async () => assert.equal(await hear(stage()), verdict))
  }

  test('what became of the last message is shown with the instance', async () => {
    const { post, directory } = stage()
    await post()
    await post()
    assert.equal(directory.entries()[0]?.verdict, 'message_replayed')
  })

  test('a rotated key is asked for anew', async () => {
    const asked: boolean[] = []
    const [old, now] = [generateKeyPair(), generateKeyPair()]
    const keyOf = (_: AgentId, fresh: boolean) => {
      asked.push(fresh)
      return fresh ? now.publicKey : old.publicKey
    }
    const { post } = stage({ keyOf })
    assert.equal(await post({}, now), 'verified')
    assert.deepEqual(asked, [false, true])
  })

  test('inventing names fills nothing beyond the bound', async () => {
    const { post, directory } = stage({ mostInstances: 2 })
    const heard = []
    for (let digit = 1; digit <= 3; digit += 1)
      heard.push(await post({ instance: instanceOf(digit) }))
    assert.deepEqual(heard, ['verified', 'verified', 'crowded'])
    assert.equal(directory.entries().length, 2)
  })
})

test('AV-6: who does not answer a direct probe is offered nothing until it does', async () => {
  const probed: string[] = []
  let answers = false
  const probe = async (place: string) => {
    probed.push(place)
    return answers || place === 'http://there.example'
  }
  const { post, declare, found, clock } = stage({ probe })
  const SECOND = instanceOf(2)
  await declare(FIRST, 'http://gone.example/offers')
  await declare(SECOND, 'http://there.example/offers')
  const keepPosting = async (ms: number) => {
    for (let left = ms; left > 0; left -= CADENCE) {
      await post()
      await post({ instance: SECOND })
      await clock.advanceBy(CADENCE)
    }
  }
  // While nobody has answered yet, silence says more about us; so the second probe counts.
  await keepPosting(2 * LIMITS.probeMs + 2 * CADENCE)
  assert.deepEqual(found(), [SECOND])
  assert.ok(probed.length <= 6, 'once a period')
  answers = true
  await keepPosting(LIMITS.probeMs + 2 * CADENCE)
  assert.deepEqual([...found()].sort(), [FIRST, SECOND])
})

describe('AV-7: the order', () => {
  // biome-ignore format: a table is read by its columns
  const rows: [rule: string, worse: Partial<Announcement>][] = [
    ['more free slots come first',     { slotsFree: 1 }],
    ['less load comes first',          { load: { cpu: 0.9, mem: 0.1 } }],
    ['the tighter resource decides',   { load: { cpu: 0, mem: 0.95 } }],
  ]
  for (const [rule, worse] of rows) {
    test(rule, async () => {
      const { post, found } = stage()
      await post({ ...worse, instance: instanceOf(1) })
      await post({ instance: instanceOf(2) })
      assert.deepEqual(found(), [instanceOf(2), instanceOf(1)])
    })
  }

  test('who lacks the skill or the slots is not weighed', async () => {
    const { post, found } = stage()
    await post({ capabilities: ['other'] })
    await post({ instance: instanceOf(2), slotsFree: 0 })
    assert.deepEqual(found(), [])
  })
})
