/**
 * Short-lived tokens, given for a token or a signature, so that not every request needs one.
 *
 *   T1  A session allows at most what it was given for, and never making tokens.
 *   T2  A session gives no session: a leaked one ends in minutes.
 *   T3  It names what it was given for, by the token's digest or the key's thumbprint; neither
 *       opens a door by itself.
 */
import { type Refused, refuse } from '@chimera/domain/decision'
import type { Digest, Instant, KeyId } from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'
import type { Scope } from '@chimera/domain/scopes'
import { issueToken, TOKEN_TTL_MS } from '@chimera/identity/tokens'
import { type Caller, forbidden } from './caller.ts'
import type { Hub } from './hub.ts'

export type Subject =
  | { readonly kind: 'token'; readonly digest: Digest }
  | { readonly kind: 'key'; readonly key: KeyId }

export type SessionAsked = { readonly scopes?: readonly Scope[]; readonly ttlMs?: number }

export type SessionGiven = {
  readonly ok: true
  readonly text: string
  readonly scopes: readonly Scope[]
  readonly expiresAt: Instant
}

export async function openSession(
  hub: Hub,
  caller: Caller,
  { scopes, ttlMs = TOKEN_TTL_MS }: SessionAsked,
): Promise<SessionGiven | Refused<Refusal>> {
  if (hub.key === undefined || caller.session) return forbidden()
  const subject = subjectOf(caller)
  if (subject === undefined) return refuse('caller_unknown')
  const most: readonly Scope[] = caller.scopes.filter((each) => each !== 'tokens')
  const given = scopes ?? most
  if (!given.every((each) => most.includes(each))) return forbidden()
  const now = hub.now()
  // Whole seconds, as they are written in the token.
  const until = Math.min(now + ttlMs, caller.token?.expiresAt ?? Number.POSITIVE_INFINITY)
  const expiresAt = Math.floor(until / 1_000) * 1_000
  if (expiresAt <= now) return refuse('token_expired')
  const parties = { issuer: hub.key.id, audience: hub.key.id }
  const text = await issueToken(
    { ...parties, subject, id: hub.uuid(), scopes: given, issuedAt: now, expiresAt },
    hub.key,
  )
  return { ok: true, text, scopes: given, expiresAt }
}

/** A token beside a signature counts: it has the narrower scopes and the cap. */
function subjectOf({ token, agent, key }: Caller): string | undefined {
  if (token !== undefined) return `token:${token.digest}`
  return agent === undefined || key === undefined ? undefined : `key:${key.id}`
}

export function readSubject(text: string): Subject | undefined {
  const [, kind, name = ''] = /^(token|key):(.+)$/.exec(text) ?? []
  if (kind === 'token') return { kind, digest: name as Digest }
  return kind === 'key' ? { kind, key: name as KeyId } : undefined
}
