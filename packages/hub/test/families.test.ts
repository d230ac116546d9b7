/** Tokens that were made with others: they end together, with their sessions, each with a fact. */
import assert from 'node:assert/strict'
import { createClock } from '@chimera/host/clock'
import { afterAll, beforeAll, test } from 'vitest'
import { type Asker, createAsker } from './asking.ts'
import { runHub, type TestHub } from './running.ts'

const clock = createClock()
let hub: TestHub
let asker: Asker
beforeAll(async () => {
  hub = await runHub({ auth: 'required', clock })
  asker = createAsker(hub, clock)
}, 60_000)
afterAll(() => hub.stop())

const isGood = async (token: string) => (await asker.send('/v1/tokens', { token })).status === 200
const revoke = async (id: string, token: string) =>
  (await asker.send(`/v1/tokens/${id}`, { method: 'DELETE', token })).status
const sessionOf = async (token: string) => {
  const { status, body } = await asker.send('/v1/tokens/session', { token, body: {} })
  assert.equal(status, 201)
  return String(body.token)
}
/** What the trail says was revoked, and along with what. */
async function revocations(...ids: readonly string[]) {
  await hub.hub.settle()
  const found = new Map<string, unknown>()
  for (let seq = 0; ; ) {
    const page = await hub.hub.keep.trail.sealedAfter(seq)
    if (page.length === 0) break
    for (const { fact, seq: at } of page) {
      seq = at
      const { type, id, along } = fact as Record<string, string>
      if (type === 'token_revoked' && id !== undefined && ids.includes(id)) found.set(id, along)
    }
  }
  return ids.map((id) => (found.has(id) ? (found.get(id) ?? 'itself') : undefined))
}

test('what was made with a token ends with it, and so do its sessions', async () => {
  const root = await asker.newOwner()
  const child = await asker.narrower(root.token, {})
  const grandchild = await asker.narrower(child.token, {})
  const session = await sessionOf(grandchild.token)
  const other = await asker.newOwner()
  const all = [root, child, grandchild, other].map(({ token }) => token)
  const good = () => Promise.all(all.map(isGood))
  const sees = async () =>
    (await asker.send(`/accounts/${root.owner}`, { token: session })).status !== 401
  assert.deepEqual([await good(), await sees()], [[true, true, true, true], true])

  assert.equal(await revoke(root.id, root.token), 204)
  assert.deepEqual([await good(), await sees()], [[false, false, false, true], false])
  assert.deepEqual(await revocations(root.id, child.id, grandchild.id, other.id), [
    'itself',
    root.id,
    root.id,
    undefined,
  ])
  assert.equal(await revoke(root.id, asker.operator), 204)
  assert.equal((await asker.narrower(child.token, {})).status, 401)
})

test('a branch ends by itself; the one that it was made with stays', async () => {
  const root = await asker.newOwner()
  const [left, right] = [await asker.narrower(root.token, {}), await asker.narrower(root.token, {})]
  assert.equal(await revoke(left.id, asker.operator), 204)
  assert.deepEqual(await Promise.all([root, left, right].map(({ token }) => isGood(token))), [
    true,
    false,
    true,
  ])
})

test('SF-6 a token is replaced without an operator: the new one ends the old one', async () => {
  const old = await asker.newOwner()
  const [next, leaked] = [await asker.narrower(old.token, {}), await asker.narrower(old.token, {})]
  assert.equal(await revoke(old.id, next.token), 204)
  assert.deepEqual(await Promise.all([old, next, leaked].map(({ token }) => isGood(token))), [
    false,
    true,
    false,
  ])
  assert.equal(await revoke(next.id, next.token), 204)
  assert.equal(await isGood(next.token), false)
})

test('an owner keeps its token when the operator that made it is revoked', async () => {
  const deputy = await asker.narrower(asker.operator, {})
  const body = { owner_id: `owner-of-${deputy.id}` }
  const made = await asker.send('/v1/owners', { token: deputy.token, body })
  assert.equal(made.status, 201)
  assert.equal(await revoke(deputy.id, asker.operator), 204)
  assert.equal(await isGood(String(made.body.token)), true)
  assert.equal((await asker.narrower(deputy.token, {})).status, 401)
})

test('nothing is made with a token that is revoked at the same moment', async () => {
  const root = await asker.newOwner()
  const [ended, ...made] = await Promise.all([
    revoke(root.id, asker.operator),
    ...Array.from({ length: 8 }, () => asker.narrower(root.token, {})),
  ])
  assert.equal(ended, 204)
  for (const { status, token } of made) {
    assert.ok(status === 201 || status === 401, `${status}`)
    if (status === 201) assert.equal(await isGood(token), false)
  }
})
