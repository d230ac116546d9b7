/**
 * Signed HTTP requests and callbacks (RFC 9421, ed25519): who asked, for what, with what, when.
 *
 *   H1  The method, the whole target and the body are always under the signature; without them it
 *       would fit another request. The target is `@target-uri`, or all of `@authority`, `@path` and
 *       `@query`.
 *   H2  `created`, `keyid` and `nonce` are always there; `alg`, if named, is ed25519.
 *   H3  The body is covered through `content-digest`, which is compared with the bytes received. A
 *       request without a body may do without it.
 *   H4  A nonce counts as used only once the signature has been verified, so that nobody can use up
 *       somebody else's.
 */
import { type Refused, refuse } from '@chimera/domain/decision'
import type { Instant, KeyId } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import { type BareItem, type InnerList, serializeDictionary } from 'structured-headers'
import { contentDigest, fitsContentDigest } from './content-digest.ts'
import { signBytes, verifyBytes } from './ed25519.ts'
import { Failure } from './failure.ts'
import { judgeFreshness, type SeenNonces, type Span } from './freshness.ts'
import { fieldValue, type HttpMessage, type HttpRequest } from './http-message.ts'
import type { KeyOf, Keyring } from './keyring.ts'
import type { KeyPair, VerifyingKey } from './keys.ts'
import { type CarriedSignature, carriedSignatures, signatureBase } from './signature-base.ts'

export type RequestWithBody = HttpRequest & { readonly body?: Uint8Array | undefined }

export type SigningOptions = {
  readonly now: Instant
  /** Never used before with this key: 16 random bytes as text will do. */
  readonly nonce: string
  /** Valid for less than the 60 s that a verifier grants. */
  readonly expiresAt?: Instant
  /** Further fields to cover, in lower case, such as `idempotency-key`. */
  readonly also?: readonly string[]
  readonly label?: string
}

/** The fields to add to the request; one that is already there is to be replaced. */
export type SignatureFields = {
  readonly signature: string
  readonly 'signature-input': string
  readonly 'content-digest'?: string
}

export function signRequest(
  request: RequestWithBody,
  pair: KeyPair,
  options: SigningOptions,
): SignatureFields {
  const { now, nonce, expiresAt, also = [], label = 'sig' } = options
  const digest = request.body === undefined ? undefined : contentDigest(request.body)
  const covered = ['@method', '@target-uri', ...(digest === undefined ? [] : ['content-digest'])]
  const parameters = new Map<string, BareItem>([['created', seconds(now)]])
  if (expiresAt !== undefined) parameters.set('expires', seconds(expiresAt))
  parameters.set('nonce', nonce).set('keyid', pair.id).set('alg', 'ed25519')
  const input: InnerList = [[...covered, ...also].map((name) => [name, new Map()]), parameters]

  const headers =
    digest === undefined
      ? request.headers
      : { ...without(request.headers, 'content-digest'), 'content-digest': digest }
  const fields = signCovered({ ...request, headers }, input, pair, label)
  return digest === undefined ? fields : { ...fields, 'content-digest': digest }
}

/** Signs exactly what `input` lists. `signRequest` is this with our own list. */
export function signCovered(
  message: HttpMessage,
  input: InnerList,
  pair: KeyPair,
  label: string,
): SignatureFields {
  const base = signatureBase(message, input)
  if (base === undefined) throw new Failure('component_missing', 'a covered component has no value')
  const signature = signBytes(Buffer.from(base, 'latin1'), pair)
  return {
    signature: serializeDictionary(new Map([[label, [signature, new Map()]]])),
    'signature-input': serializeDictionary(new Map([[label, input]])),
  }
}

/** Whether this one signature fits the message: no policy, no time, no nonce. */
export function verifyCovered(
  message: HttpMessage,
  carried: CarriedSignature,
  key: VerifyingKey,
): boolean {
  const base = signatureBase(message, carried.input)
  return base !== undefined && verifyBytes(Buffer.from(base, 'latin1'), carried.signature, key)
}

export type RequestPolicy = {
  readonly now: Instant
  readonly keyOf: KeyOf
  readonly keyring: Keyring
  readonly nonces: SeenNonces
  /** Further fields that must be covered, in lower case. */
  readonly also?: readonly string[]
}

export type RequestRefusal =
  | 'caller_unknown'
  | 'signature_invalid'
  | 'message_early'
  | 'message_expired'
  | 'message_replayed'
  | 'service_unavailable'

export type RequestVerdict =
  | {
      readonly ok: true
      readonly key: KeyId
      readonly signedAt: Instant
      /** The names of what is covered without parameters. */
      readonly covered: ReadonlySet<string>
    }
  | Refused<RequestRefusal>

// A proxy or two may have added theirs; a longer row is there to cost us verifications.
const MOST_SIGNATURES = 4

/** The first signature that satisfies the policy counts; else the first one's refusal is given. */
export async function verifyRequest(
  request: RequestWithBody,
  policy: RequestPolicy,
): Promise<RequestVerdict> {
  const carried = carriedSignatures(request)
  const claimed = fieldValue(request.headers, 'signature') !== undefined
  let refused: RequestVerdict = refuse(claimed ? 'signature_invalid' : 'caller_unknown')
  for (const [at, each] of carried.slice(0, MOST_SIGNATURES).entries()) {
    const verdict = await judgeSignature(request, each, policy)
    if (verdict.ok) return verdict
    if (at === 0) refused = verdict
  }
  return refused
}

async function judgeSignature(
  request: RequestWithBody,
  carried: CarriedSignature,
  { now, keyOf, keyring, nonces, also = [] }: RequestPolicy,
): Promise<RequestVerdict> {
  const terms = readTerms(carried.input)
  if (terms === undefined) return invalid('signature-input', 'created, keyid, nonce; alg ed25519')
  const covered = plainlyCovered(carried.input)
  const missing = findUncovered(request, covered, also)
  if (missing !== undefined) return invalid(missing, 'to be covered')

  const freshness = judgeFreshness(terms, now)
  if (!freshness.ok) return freshness

  const publicKey = await keyOf(terms.key)
  const key = publicKey === undefined ? undefined : keyring.find(publicKey)
  if (key === undefined) return refuse('caller_unknown')
  if (!verifyCovered(request, carried, key)) return refuse('signature_invalid')
  if (!bodyFits(request, covered)) return invalid('content-digest', 'the digest of the body')

  const remembered = await nonces.remember(terms, now)
  if (remembered === 'seen') return refuse('message_replayed')
  if (remembered === 'full') return refuse('service_unavailable')
  return { ok: true, key: terms.key, signedAt: terms.signedAt, covered }
}

type Terms = Span & { readonly key: KeyId; readonly nonce: string }

/** H2. */
function readTerms([, parameters]: InnerList): Terms | undefined {
  const created = readSeconds(parameters.get('created'))
  const expires = parameters.has('expires') ? readSeconds(parameters.get('expires')) : null
  const key = readText(parameters.get('keyid'))
  const nonce = readText(parameters.get('nonce'))
  const alg: unknown = parameters.get('alg')
  if (created === undefined || key === undefined || nonce === undefined) return undefined
  if (expires === undefined || (alg !== undefined && alg !== 'ed25519')) return undefined
  const terms = { signedAt: created, key: key as KeyId, nonce }
  return expires === null ? terms : { ...terms, expiresAt: expires }
}

/** H1, H3. The part that should have been covered, if one is not. */
function findUncovered(
  { body }: RequestWithBody,
  covered: ReadonlySet<string>,
  also: readonly string[],
): string | undefined {
  const target = covered.has('@target-uri') ? ['@target-uri'] : ['@authority', '@path', '@query']
  const digest = body === undefined || body.length === 0 ? [] : ['content-digest']
  return ['@method', ...target, ...digest, ...also].find((each) => !covered.has(each))
}

function bodyFits({ headers, body }: RequestWithBody, covered: ReadonlySet<string>): boolean {
  if (!covered.has('content-digest')) return true
  const field = fieldValue(headers, 'content-digest')
  return field !== undefined && fitsContentDigest(field, body ?? new Uint8Array())
}

/** A parameter narrows what is covered (to one member, say), so it does not count as the whole. */
function plainlyCovered([components]: InnerList): ReadonlySet<string> {
  const names = new Set<string>()
  for (const [name, parameters] of components) {
    if (typeof name === 'string' && parameters.size === 0) names.add(name)
  }
  return names
}

function readSeconds(value: unknown): Instant | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value * 1_000 : undefined
}

function readText(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '' || value.length > LIMITS.keyChars) return undefined
  return value
}

function without(headers: HttpRequest['headers'], name: string): HttpRequest['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([each]) => each.toLowerCase() !== name))
}

const seconds = (at: Instant): number => Math.floor(at / 1_000)

const invalid = (path: string, expected: string): Refused<'signature_invalid'> =>
  refuse('signature_invalid', { issues: [{ path, expected, got: 'something else' }] })
