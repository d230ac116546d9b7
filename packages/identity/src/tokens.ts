/**
 * Short-lived tokens (AV-12): what a hub gives for a signature, so that a caller need not sign each
 * request or post.
 *
 *   U1  A token says who (`subject`), for what (`scopes`), with whom (`audience`) and until when.
 *   U2  It lives minutes, so a leaked one is soon worth nothing.
 *
 * Whether it was revoked is the store's to know, by its id.
 */
import { type Refused, refuse } from '@chimera/domain/decision'
import type { Instant } from '@chimera/domain/ids'
import { Failure } from './failure.ts'
import { type Frame, type JwtForm, type JwtPolicy, readJwt, signJwt } from './jwt.ts'
import type { KeyPair } from './keys.ts'

/** A quarter of an hour: renewing costs one signature, so there is no reason for more. */
export const TOKEN_TTL_MS = 15 * 60 * 1_000

const FORM: JwtForm = { typ: 'chimera-token+jwt', mostMs: TOKEN_TTL_MS }

// RFC 6749, 3.3: visible ASCII without the quote and the backslash.
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/

export type Token = Frame & { readonly scopes: readonly string[] }

export type TokenVerdict =
  | { readonly ok: true; readonly token: Token }
  | Refused<'token_invalid' | 'token_expired'>

export async function issueToken({ scopes, ...frame }: Token, hub: KeyPair): Promise<string> {
  const wrong = scopes.find((each) => !SCOPE.test(each))
  if (wrong !== undefined) throw new Failure('scope_malformed', wrong)
  return signJwt(FORM, frame, { scope: scopes.join(' ') }, hub)
}

export async function verifyToken(
  text: string,
  policy: JwtPolicy,
  now: Instant,
): Promise<TokenVerdict> {
  const reading = await readJwt(FORM, text, policy, now)
  if (reading.state === 'expired') return refuse('token_expired')
  if (reading.state === 'bad') return refuse('token_invalid')
  const { scope } = reading.claims
  if (typeof scope !== 'string') return refuse('token_invalid')
  const scopes = scope.split(' ').filter((each) => each !== '')
  return { ok: true, token: { ...reading.frame, scopes } }
}
