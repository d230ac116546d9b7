/** Who is behind a key is remembered until something changes, and never past it. */
import assert from 'node:assert/strict'
import type { AgentId, CorrelationId, Digest, KeyId, OwnerId, PublicKey } from '@chimera/domain/ids'
import { test } from 'vitest'
import type { Agents, KeyHolder } from './ports/agents.ts'
import type { Token, Tokens } from './ports/tokens.ts'
import { rememberKeys, rememberTokens } from './remembered.ts'

const KEY = 'key' as KeyId
const HOLDER: KeyHolder = {
  agent: 'a' as AgentId,
  owner: 'ann' as OwnerId,
  publicKey: 'p' as PublicKey,
  replaced: false,
  removed: false,
}

function openAgents() {
  const state = { holder: HOLDER as KeyHolder | undefined, asked: 0 }
  const gates: (() => void)[] = []
  let held = false
  const pass = () => (held ? new Promise<void>((go) => void gates.push(go)) : Promise.resolve())
  const agents = rememberKeys({
    withKey: async () => {
      state.asked += 1
      const { holder } = state
      await pass()
      return holder
    },
    rotate: async () => {
      state.holder = { ...HOLDER, replaced: true }
      await pass()
      return { decision: { ok: true, facts: [] } }
    },
  } as unknown as Agents)
  const rotate = () => agents.rotate({} as never, {} as never)
  const hold = (does: boolean): void => {
    held = does
    for (const go of gates.splice(0)) go()
  }
  return { state, agents, rotate, hold }
}

test('M1 a key is looked up once, and again after whatever may have changed it', async () => {
  const { state, agents, rotate } = openAgents()
  assert.equal((await agents.withKey(KEY))?.replaced, false)
  assert.equal((await agents.withKey(KEY))?.replaced, false)
  assert.equal(state.asked, 1)
  await rotate()
  assert.equal((await agents.withKey(KEY))?.replaced, true)
  assert.equal(state.asked, 2)
})

test('M1 what was read while it changed is not remembered', async () => {
  const { agents, rotate, hold } = openAgents()
  hold(true)
  const reading = agents.withKey(KEY)
  const rotating = rotate()
  hold(false)
  assert.equal((await reading)?.replaced, false, 'as it was when it was asked for')
  await rotating
  assert.equal((await agents.withKey(KEY))?.replaced, true)
})

test('M2 nobody is not remembered: the next moment it may be somebody', async () => {
  const { state, agents } = openAgents()
  state.holder = undefined
  assert.equal(await agents.withKey(KEY), undefined)
  state.holder = HOLDER
  assert.deepEqual(await agents.withKey(KEY), HOLDER)
})

test('M1 a token that is revoked is looked up anew', async () => {
  let revokedAt: number | undefined
  const tokens = rememberTokens({
    find: async () => ({ id: 't', ...(revokedAt !== undefined && { revokedAt }) }) as Token,
    revoke: async () => {
      revokedAt = 1
      return true
    },
  } as unknown as Tokens)
  const digest = 'd' as Digest
  assert.equal((await tokens.find(digest))?.revokedAt, undefined)
  await tokens.revoke({ id: 't' }, 'c' as CorrelationId)
  assert.equal((await tokens.find(digest))?.revokedAt, 1)
})
