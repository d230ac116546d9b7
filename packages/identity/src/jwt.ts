/**
 * The one way in which this package makes and reads JWTs.
 *
 *   I1  The algorithm is EdDSA on both sides. A token that names another (HS256 with our public key
 *       as its secret, `none`) is not one of ours.
 *   I2  The type, the issuer and the audience are checked, so that a token made for one purpose or
 *       one hub is worth nothing elsewhere.
 *   I3  A token has a time of issue, an expiry, a subject and an id. Times are whole seconds,
 *       rounded down, so that none lives longer than was asked.
 *   I4  Expiry has no leeway: who is late asks again. Issue may lie ahead by the skew of clocks.
 */
import type { Instant, KeyId } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import { decodeProtectedHeader, errors, type JWTPayload, jwtVerify, SignJWT } from 'jose'
import { Failure } from './failure.ts'
import type { KeyOf, Keyring } from './keyring.ts'
import type { KeyPair } from './keys.ts'

/** Whose token it is and for whom: the hub's name, and who is to accept it. */
export type Parties = { readonly issuer: string; readonly audience: string }

export type JwtForm = {
  /** The `typ` header: what the token is for. */
  readonly typ: string
  /** The longest that such a token may live. */
  readonly mostMs: number
}

export type Frame = Parties & {
  readonly subject: string
  readonly id: string
  readonly issuedAt: Instant
  readonly expiresAt: Instant
}

export type JwtPolicy = Parties & { readonly keyOf: KeyOf; readonly keyring: Keyring }

export type JwtReading =
  | {
      readonly state: 'good' | 'expired'
      readonly frame: Frame
      readonly claims: Readonly<Record<string, unknown>>
    }
  | { readonly state: 'bad' }

export async function signJwt(
  form: JwtForm,
  frame: Frame,
  claims: Readonly<Record<string, unknown>>,
  pair: KeyPair,
): Promise<string> {
  const lifeMs = frame.expiresAt - frame.issuedAt
  if (!(lifeMs > 0 && lifeMs <= form.mostMs)) throw new Failure('ttl_invalid', `${lifeMs} ms`)
  return new SignJWT({ ...claims })
    .setProtectedHeader({ alg: 'EdDSA', typ: form.typ, kid: pair.id })
    .setIssuer(frame.issuer)
    .setAudience(frame.audience)
    .setSubject(frame.subject)
    .setJti(frame.id)
    .setIssuedAt(seconds(frame.issuedAt))
    .setExpirationTime(seconds(frame.expiresAt))
    .sign(pair.privateKey)
}

/** An expired token is otherwise sound, and its claims are given, since a caller may weigh both. */
export async function readJwt(
  form: JwtForm,
  text: string,
  { issuer, audience, keyOf, keyring }: JwtPolicy,
  now: Instant,
): Promise<JwtReading> {
  const id = keyNamed(text)
  const publicKey = id === undefined ? undefined : await keyOf(id)
  const key = publicKey === undefined ? undefined : keyring.find(publicKey)
  if (key === undefined) return { state: 'bad' }
  try {
    const { payload } = await jwtVerify(text, key.object, {
      algorithms: ['EdDSA'],
      typ: form.typ,
      issuer,
      audience,
      requiredClaims: ['iat', 'exp', 'sub', 'jti'],
      currentDate: new Date(now),
    })
    return weigh('good', payload, form, { issuer, audience }, now)
  } catch (error) {
    if (!isExpired(error)) return { state: 'bad' }
    return weigh('expired', error.payload, form, { issuer, audience }, now)
  }
}

function weigh(
  state: 'good' | 'expired',
  { iat, exp, sub, jti, iss: _iss, aud, nbf: _nbf, ...claims }: JWTPayload,
  form: JwtForm,
  parties: Parties,
  now: Instant,
): JwtReading {
  if (typeof iat !== 'number' || typeof exp !== 'number') return { state: 'bad' }
  if (typeof sub !== 'string' || typeof jti !== 'string') return { state: 'bad' }
  // One audience: a token for several is one that each of them could play to the others.
  if (aud !== parties.audience) return { state: 'bad' }
  const [issuedAt, expiresAt] = [iat * 1_000, exp * 1_000]
  if (issuedAt > now + LIMITS.skewMs) return { state: 'bad' }
  if (expiresAt - issuedAt > form.mostMs) return { state: 'bad' }
  return { state, frame: { ...parties, subject: sub, id: jti, issuedAt, expiresAt }, claims }
}

/** Thrown only after the signature, the type and both parties have been checked. */
const isExpired = (error: unknown): error is errors.JWTExpired =>
  error instanceof Error && 'code' in error && error.code === errors.JWTExpired.code

/** Only to find the key; nothing in it is believed before the signature is. */
function keyNamed(text: string): KeyId | undefined {
  try {
    const { kid } = decodeProtectedHeader(text)
    return typeof kid === 'string' ? (kid as KeyId) : undefined
  } catch {
    return undefined
  }
}

const seconds = (at: Instant): number => Math.floor(at / 1_000)
