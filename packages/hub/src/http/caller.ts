/**
 * Establishes who sent a request: by a token, by a key, or by a short-lived token that was given
 * for one of these. A key is shown by signing the request (RFC 9421), by a client certificate that
 * was made for it, or, where a route takes that, by a JWS over the body.
 *
 *   E1  What is presented must hold, all of it. A bad token beside a good signature is refused, not
 *       passed over; so are two different keys.
 *   E2  A key counts while it is the present key of an agent that is there; a key that is bound to
 *       nobody counts only beside a token, which is how it comes to be bound.
 *   E3  A short-lived token stands for what it was given for, which is looked up each time: a
 *       revoked token or a rotated key ends its sessions at once.
 *   E4  On an open hub a signature is checked, since it binds a key; tokens are not looked at.
 *   E5  A certificate is worth its key. It counts while its authority's word does and its time
 *       lasts, and the key behind it is looked up each time, as for a signature (decision 0034).
 */
import type { Key } from '@chimera/domain/agent/keys'
import { type Refused, refuse } from '@chimera/domain/decision'
import type { Digest, Instant, KeyId } from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'
import { AGENT_SCOPES, isScope } from '@chimera/domain/scopes'
import { verifyDetached } from '@chimera/identity/detached-jws'
import { createSeenNonces, judgeFreshness, type SeenNonces } from '@chimera/identity/freshness'
import { fieldValue, type HeaderFields } from '@chimera/identity/http-message'
import { type RequestWithBody, verifyRequest } from '@chimera/identity/http-signature'
import { createKeyring } from '@chimera/identity/keyring'
import { decodePublicKey, type KeyPair, keyIdOf } from '@chimera/identity/keys'
import { digestSecretToken } from '@chimera/identity/secret-tokens'
import { verifyToken } from '@chimera/identity/tokens'
import { ANYBODY, type Caller, STRANGER } from '../act/caller.ts'
import { readSubject } from '../act/sessions.ts'
import type { KeyHolder } from '../ports/agents.ts'
import type { Tokens } from '../ports/tokens.ts'
import type { Certificate } from './tls.ts'

export type CallersOptions = {
  readonly tokens: Pick<Tokens, 'find'>
  readonly holderOf: (key: KeyId) => Promise<KeyHolder | undefined>
  readonly now: () => Instant
  /** The hub's own key; absent on an open hub. */
  readonly key?: KeyPair
  readonly nonces?: SeenNonces
}

export type Established = { readonly ok: true; readonly caller: Caller } | Refused<Refusal>

/** The public key of whoever signs before any hub knows it: base64url of its 32 bytes. */
export const KEY_FIELD = 'x-chimera-key'

/** A detached JWS over the body's bytes, on the routes that take one. */
export type Detached = {
  readonly text: string
  /** When the body says that it was written: it stands for the time of signing. */
  readonly signedAt?: Instant
  /** The key that a signature without a name is by, such as the one bound to what it speaks of. */
  readonly unnamed?: KeyId
}

export type Presented = RequestWithBody & {
  readonly certificate?: Certificate | undefined
  readonly detached?: Detached | undefined
}

const BEARER = /^Bearer +([\x21-\x7e]+)$/i

export type Callers = {
  readonly establish: (request: Presented) => Promise<Established>
}

export function createCallers(options: CallersOptions): Callers {
  const { tokens, holderOf, now, key: hubKey, nonces = createSeenNonces() } = options
  const keyring = createKeyring()

  async function bySignature(request: RequestWithBody): Promise<Established> {
    const signers = createSigners(fieldValue(request.headers, KEY_FIELD))
    const { keyOf } = signers
    const verdict = await verifyRequest(request, { now: now(), keyOf, keyring, nonces })
    return verdict.ok ? signers.callerOf(verdict.key) : verdict
  }

  async function byDetached(
    { text, signedAt, unnamed }: Detached,
    body: Uint8Array,
  ): Promise<Established> {
    const { keyOf, callerOf } = createSigners(undefined)
    const policy = { keyOf, keyring, ...(unnamed !== undefined && { unnamed }) }
    const verdict = await verifyDetached(text, body, policy)
    if (!verdict.ok) return verdict
    // A body without a time is none that its route takes, and is refused there.
    const freshness = judgeFreshness({ signedAt: signedAt ?? now() }, now())
    return freshness.ok ? callerOf(verdict.key) : freshness
  }

  /** Undefined for a certificate that names nobody. */
  async function byCertificate(certificate: Certificate): Promise<Established | undefined> {
    const { believed, from, until, publicKey } = certificate
    const holds = believed && now() >= from && now() < until
    if (!holds) return refuse('certificate_invalid')
    if (publicKey === undefined) return undefined
    const { keyOf, callerOf } = createSigners(publicKey)
    const id = keyIdOf(publicKey)
    return (await keyOf(id)) === undefined ? refuse('caller_unknown') : callerOf(id)
  }

  /** Whose keys were asked for; one that nobody holds counts where it is offered. */
  function createSigners(offer: string | undefined) {
    const offered = decodePublicKey(offer)
    const signers = new Map<KeyId, { readonly key: Key; readonly holder?: KeyHolder }>()
    return {
      keyOf: async (id: KeyId) => {
        const holder = await holderOf(id)
        // A key that spoke once and was replaced is not brought back by offering it again.
        if (holder?.replaced) return undefined
        const publicKey = holder?.publicKey ?? offered
        if (publicKey === undefined || keyIdOf(publicKey) !== id) return undefined
        signers.set(id, { key: { id, publicKey }, ...(holder && { holder }) })
        return publicKey
      },
      callerOf: (id: KeyId): Established => {
        const signer = signers.get(id)
        return signer === undefined ? refuse('caller_unknown') : asKey(signer.key, signer.holder)
      },
    }
  }

  async function byKeys(request: Presented): Promise<Established | undefined> {
    const { certificate, detached, headers, body = new Uint8Array() } = request
    let found: Established | undefined
    // A certificate costs nothing to look at, and a signature's nonce is used up by that.
    const proofs = [
      certificate && (() => byCertificate(certificate)),
      detached && (() => byDetached(detached, body)),
      isSigned(headers) && (() => bySignature(request)),
    ]
    for (const prove of proofs) {
      const proven = prove ? await prove() : undefined
      if (proven === undefined) continue
      if (!proven.ok) return proven
      if (found?.ok && found.caller.key?.id !== proven.caller.key?.id) {
        return refuse('signature_invalid')
      }
      found = proven
    }
    return found
  }

  async function byBearer(text: string): Promise<Established> {
    const secret = digestSecretToken(text)
    if (secret !== undefined) return byDigest(secret.digest)
    if (hubKey === undefined) return refuse('token_invalid')
    const verdict = await verifyToken(
      text,
      {
        issuer: hubKey.id,
        audience: hubKey.id,
        keyOf: (id) => (id === hubKey.id ? hubKey.publicKey : undefined),
        keyring,
      },
      now(),
    )
    if (!verdict.ok) return verdict
    const { subject, scopes } = verdict.token
    const behind = await bySubject(subject)
    if (!behind.ok) return behind
    const left = behind.caller.scopes.filter((each) => scopes.includes(each))
    return { ok: true, caller: { ...behind.caller, scopes: left, session: true } }
  }

  async function bySubject(text: string): Promise<Established> {
    const subject = readSubject(text)
    if (subject === undefined) return refuse('token_invalid')
    if (subject.kind === 'token') return byDigest(subject.digest)
    const holder = await holderOf(subject.key)
    if (holder === undefined || holder.replaced || holder.removed) return refuse('token_invalid')
    return asKey({ id: subject.key, publicKey: holder.publicKey }, holder)
  }

  async function byDigest(digest: Digest): Promise<Established> {
    const token = await tokens.find(digest)
    if (token === undefined || token.revokedAt !== undefined) return refuse('token_invalid')
    const { id, kind, owner, expiresAt, capCents } = token
    if (expiresAt !== undefined && expiresAt <= now()) return refuse('token_expired')
    const caller: Caller = {
      open: false,
      operator: kind === 'operator',
      ...(owner !== undefined && { owner }),
      token: {
        id,
        digest,
        ...(expiresAt !== undefined && { expiresAt }),
        ...(capCents !== undefined && { capCents }),
      },
      scopes: token.scopes.filter(isScope),
      session: false,
    }
    return { ok: true, caller }
  }

  return {
    async establish(request) {
      if (hubKey === undefined) {
        const signer = await byKeys(request)
        if (signer?.ok === false) return signer
        return { ok: true, caller: { ...signer?.caller, ...ANYBODY } }
      }
      const presented = fieldValue(request.headers, 'authorization')
      const [, text] = presented === undefined ? [] : (BEARER.exec(presented) ?? [])
      if (presented !== undefined && text === undefined) return refuse('token_invalid')
      // The token first: a signature's nonce is used up by looking at it.
      const bearer = text === undefined ? undefined : await byBearer(text)
      if (bearer?.ok === false) return bearer
      const signer = await byKeys(request)
      if (signer?.ok === false) return signer
      return together(bearer?.caller, signer?.caller)
    },
  }
}

export function isSigned(headers: HeaderFields): boolean {
  return headers.signature !== undefined || headers['signature-input'] !== undefined
}

function asKey(key: Key, holder: KeyHolder | undefined): Established {
  const signed = { ...STRANGER, key }
  if (holder === undefined || holder.removed) return { ok: true, caller: signed }
  const { agent, owner } = holder
  return { ok: true, caller: { ...signed, agent, owner, scopes: AGENT_SCOPES } }
}

/** The token says what is allowed; the signature adds which agent, or which new key, it is. */
function together(bearer: Caller | undefined, signer: Caller | undefined): Established {
  if (bearer === undefined || signer === undefined) {
    const caller = bearer ?? signer
    const nobody = caller === undefined || (!caller.operator && caller.owner === undefined)
    return nobody ? refuse('caller_unknown') : { ok: true, caller }
  }
  if (signer.owner !== undefined && signer.owner !== bearer.owner) return refuse('owner_mismatch')
  const { key, agent } = signer
  return { ok: true, caller: { ...bearer, ...(key && { key }), ...(agent && { agent }) } }
}
