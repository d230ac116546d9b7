/** What an agent believes of a pass, and for how long; what a pass is, identity's tests say. */
import assert from 'node:assert/strict'
import { refuse } from '@chimera/domain/decision'
import type { AgentId, PublicKey } from '@chimera/domain/ids'
import { generateKeyPair, type KeyPair } from '@chimera/identity/keys'
import { issuePass, PASS_TTL_MS } from '@chimera/identity/passes'
import { describe, test } from 'vitest'
import { createPasses } from './passes.ts'

const AT = '550e8400-e29b-41d4-a716-446655440000' as AgentId
const caller = generateKeyPair()

/** `hub.present` is what it signs with, `hub.told` what the agent has heard of that. */
function openDoor() {
  const first = generateKeyPair()
  const hub = {
    present: first as KeyPair | undefined,
    told: first as KeyPair | undefined,
    asked: 0,
  }
  let now = 1_700_000_000_000
  const passes = createPasses({
    at: AT,
    now: () => now,
    network: {
      hubKey: async (fresh = false): Promise<PublicKey | undefined> => {
        if (fresh) {
          hub.asked += 1
          hub.told = hub.present
        }
        return hub.told?.publicKey
      },
    },
  })
  const passOf = async (by: KeyPair, ttlMs = PASS_TTL_MS) => {
    const pass = { key: caller.publicKey, at: AT, id: 'one', issuedAt: now, expiresAt: now + ttlMs }
    return `Bearer ${await issuePass(pass, by)}`
  }
  const show = async (authorization: string) => {
    const passed = await passes(authorization)
    return passed.ok ? passed.key : passed.refusal
  }
  const wait = (ms: number): void => {
    now += ms
  }
  return { hub, first, passOf, show, wait }
}

describe('a pass at an agent’s door', () => {
  test('P1 stands for its key until it ends, verified or known', async () => {
    const { first, passOf, show, wait } = openDoor()
    const pass = await passOf(first)
    assert.equal(await show(pass), caller.publicKey)
    wait(PASS_TTL_MS - 1)
    assert.equal(await show(pass), caller.publicKey)
    wait(1)
    assert.equal(await show(pass), 'token_expired')
  })

  test('P1 ends with the key that signed it, also where it was known', async () => {
    const { hub, first, passOf, show } = openDoor()
    const pass = await passOf(first)
    assert.equal(await show(pass), caller.publicKey)
    const next = generateKeyPair()
    Object.assign(hub, { present: next, told: next })
    assert.equal(await show(pass), 'token_invalid')
    assert.equal(await show(await passOf(next)), caller.publicKey)
  })

  test('P2 one by a key that the agent has not heard of makes it ask, but not often', async () => {
    const { hub, passOf, show, wait } = openDoor()
    const next = generateKeyPair()
    hub.present = next
    assert.equal(await show(await passOf(next)), caller.publicKey)
    assert.equal(hub.asked, 1)
    const forged = await passOf(generateKeyPair())
    for (let at = 0; at < 5; at += 1) assert.equal(await show(forged), 'token_invalid')
    assert.equal(hub.asked, 1)
    wait(10_000)
    assert.equal(await show(forged), 'token_invalid')
    assert.equal(hub.asked, 2)
  })

  test('P3 is not looked at where the hub is open', async () => {
    const { hub, show } = openDoor()
    hub.told = undefined
    assert.equal(await show('Bearer anything'), undefined)
  })

  test('waits for a hub that does not say what its key is', async () => {
    const passes = createPasses({
      at: AT,
      now: () => 0,
      network: { hubKey: async () => refuse('service_unavailable') },
    })
    const passed = await passes('Bearer anything')
    assert.ok(!passed.ok && passed.refusal === 'service_unavailable')
  })

  // biome-ignore format: a table is read by its columns
  const rows: [what: string, text: string][] = [
    ['another scheme',  'Basic YTpi'],
    ['no text',         'Bearer '],
    ['two texts',       'Bearer a b'],
    ['more than it is', `Bearer ${'a'.repeat(2_001)}`],
  ]
  for (const [what, text] of rows) {
    test(`${what} is none`, async () => assert.equal(await openDoor().show(text), 'token_invalid'))
  }
})
