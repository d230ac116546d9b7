/** Who is asking: tokens, signatures and sessions, right and wrong. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { AgentId, Instant, KeyId, OwnerId } from '@chimera/domain/ids'
import { signRequest } from '@chimera/identity/http-signature'
import { generateKeyPair, type KeyPair } from '@chimera/identity/keys'
import { newSecretToken } from '@chimera/identity/secret-tokens'
import { issueToken } from '@chimera/identity/tokens'
import { describe, test } from 'vitest'
import type { KeyHolder } from '../ports/agents.ts'
import type { Token } from '../ports/tokens.ts'
import { createCallers, type Established } from './caller.ts'

const NOW: Instant = 1_800_000_000_000
const hub = generateKeyPair()
const key = generateKeyPair()
const owner = 'bolt' as OwnerId
const agent = randomUUID() as string as AgentId
const secret = newSecretToken('owner')
const token: Token = {
  digest: secret.digest,
  id: randomUUID(),
  kind: 'owner',
  owner,
  scopes: ['read', 'agents', 'something of a later version'],
  issuedAt: NOW,
  spentCents: 0,
}
const held: KeyHolder = {
  agent,
  owner,
  publicKey: key.publicKey,
  replaced: false,
  removed: false,
}

type Known = { readonly holder?: KeyHolder | undefined; readonly token?: Token }

function establish(
  { holder, token: kept = token }: Known,
  headers: Record<string, string>,
  signer?: KeyPair,
): Promise<Established> {
  const callers = createCallers({
    tokens: { find: async (digest) => (digest === kept.digest ? kept : undefined) },
    holderOf: async (id: KeyId) => (id === key.id ? holder : undefined),
    now: () => NOW,
    key: hub,
  })
  const request = { method: 'GET', url: 'http://127.0.0.1:4600/economy', headers }
  const fields = signer && signRequest(request, signer, { now: NOW, nonce: randomUUID() })
  return callers.establish({ ...request, headers: { ...headers, ...fields } })
}
const refusalOf = (established: Established) => (established.ok ? 'none' : established.refusal)
const bearer = { authorization: `Bearer ${secret.text}` }
const offer = { 'x-chimera-key': key.publicKey }
const session = async (subject: string, scopes: readonly string[], by = hub) => {
  const parties = { issuer: hub.id, audience: hub.id }
  const times = { issuedAt: NOW, expiresAt: NOW + 60_000 }
  const text = await issueToken({ ...parties, ...times, subject, id: randomUUID(), scopes }, by)
  return { authorization: `Bearer ${text}` }
}

describe('a key', () => {
  test('that was replaced speaks for nobody, and is not brought back by offering it', async () => {
    const holder = { ...held, replaced: true }
    assert.equal(refusalOf(await establish({ holder }, offer, key)), 'caller_unknown')
    const both = await establish({ holder }, { ...offer, ...bearer }, key)
    assert.equal(refusalOf(both), 'caller_unknown')
    const kept = await session(`key:${key.id}`, ['read'])
    assert.equal(refusalOf(await establish({ holder }, kept)), 'token_invalid')
  })

  test('of an agent that left counts only beside a token', async () => {
    const holder = { ...held, removed: true }
    assert.equal(refusalOf(await establish({ holder }, {}, key)), 'caller_unknown')
    const both = await establish({ holder }, bearer, key)
    assert.ok(both.ok && both.caller.key?.id === key.id && both.caller.agent === undefined)
  })

  test('that is offered must be the one that signed', async () => {
    const other = { 'x-chimera-key': generateKeyPair().publicKey, ...bearer }
    assert.equal(refusalOf(await establish({}, other, key)), 'caller_unknown')
    const right = await establish({}, { ...offer, ...bearer }, key)
    assert.ok(right.ok && right.caller.key?.id === key.id)
  })
})

describe('a session', () => {
  test('allows at most what stands behind it now', async () => {
    const all = ['read', 'agents', 'money', 'tokens', 'operate']
    const found = await establish({}, await session(`token:${secret.digest}`, all))
    assert.ok(found.ok)
    assert.deepEqual(found.caller.scopes, ['read', 'agents'])
    assert.deepEqual([found.caller.session, found.caller.operator], [true, false])
  })

  test('ends with the token behind it', async () => {
    const given = await session(`token:${secret.digest}`, ['read'])
    const revoked = await establish({ token: { ...token, revokedAt: NOW } }, given)
    assert.equal(refusalOf(revoked), 'token_invalid')
    const expired = await establish({ token: { ...token, expiresAt: NOW } }, given)
    assert.equal(refusalOf(expired), 'token_expired')
  })

  test('of another hub, or of another make, is nothing here', async () => {
    const foreign = await session(`token:${secret.digest}`, ['read'], generateKeyPair())
    assert.equal(refusalOf(await establish({}, foreign)), 'token_invalid')
    const odd = await session('operator', ['operate'])
    assert.equal(refusalOf(await establish({}, odd)), 'token_invalid')
  })
})
