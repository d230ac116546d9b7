/**
 * Which key asks: by its signature over the request (RFC 9421), or by a pass that the hub gave for
 * one. Whose key it is, the hub says; here only the proof is looked at.
 *
 *   S1  A request that claims a signature and whose signature does not hold is refused.
 *   S2  A signature is judged over the bytes that came and the address that the agent itself knows;
 *       what the caller says its target was is not believed.
 *   S3  A nonce passes once.
 *   S4  What is presented must hold, all of it: a bad pass beside a good signature is refused, and
 *       so are two different keys.
 */
import { type Refused, refuse } from '@chimera/domain/decision'
import type { Instant, PublicKey } from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'
import { createSeenNonces } from '@chimera/identity/freshness'
import { fieldValue } from '@chimera/identity/http-message'
import { verifyRequest } from '@chimera/identity/http-signature'
import { createKeyring } from '@chimera/identity/keyring'
import { decodePublicKey, keyIdOf } from '@chimera/identity/keys'
import type { Soon } from '@chimera/skill/soon'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { KEY_FIELD } from '../hub/client.ts'
import type { Came } from './doors.ts'
import type { Passed, Passes } from './passes.ts'

export type Signed =
  | {
      readonly ok: true
      readonly key?: PublicKey
      /** Shown by a pass alone: somebody else may have come by that. */
      readonly pass?: true
    }
  | Refused<Refusal>
export type Signers = (request: Came) => Soon<Signed>

export type SignersOptions = {
  readonly now: () => Instant
  /** Where callers think they are, if not where they dialled. */
  readonly publicUrl: () => string | undefined
  readonly passes: Passes
}

const NOBODY: Passed = { ok: true }
/** The bytes of its body stand with the request itself. */
export const BYTES = Symbol('bytes')
type Holder = { [BYTES]?: Buffer }

/** Keeps the bytes of every body, which are what was signed. */
export function createSigners(
  app: FastifyInstance,
  { now, publicUrl, passes }: SignersOptions,
): { readonly signerOf: Signers; readonly bytesOf: (request: Came) => Buffer } {
  const keyring = createKeyring()
  const nonces = createSeenNonces()
  app.decorateRequest(BYTES, undefined)
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
    const body = typeof bytes === 'string' ? Buffer.from(bytes) : bytes
    const holder = request as FastifyRequest & Holder
    holder[BYTES] = body
    void parse(request, body.toString('utf8'), done)
  })
  const bytesOf = (request: Came): Buffer => (request as Came & Holder)[BYTES] ?? Buffer.alloc(0)

  function signerOf(request: Came): Soon<Signed> {
    const { authorization, signature, 'signature-input': input } = request.headers
    // The pass first: a signature's nonce is used up by looking at it.
    const passed = authorization === undefined ? NOBODY : passes(authorization)
    const isSigned = signature !== undefined || input !== undefined
    return isSigned ? byBoth(request, passed) : passed
  }

  async function byBoth(request: Came, passing: Soon<Passed>): Promise<Signed> {
    const passed = await passing
    if (!passed.ok) return passed
    const signed = await bySignature(request)
    if (!signed.ok || passed.key === undefined || passed.key === signed.key) return signed
    return refuse('signature_invalid')
  }

  async function bySignature(request: Came): Promise<Signed> {
    const { headers, method } = request
    const offered = decodePublicKey(fieldValue(headers, KEY_FIELD))
    if (offered === undefined) {
      const issue = { path: KEY_FIELD, expected: 'the public key that signs', got: 'none' }
      return refuse('signature_invalid', { issues: [issue] })
    }
    const verdict = await verifyRequest(
      { method, url: targetOf(request, publicUrl()), headers, body: bytesOf(request) },
      {
        now: now(),
        keyOf: (id) => (keyIdOf(offered) === id ? offered : undefined),
        keyring,
        nonces,
      },
    )
    return verdict.ok ? { ok: true, key: offered } : verdict
  }

  return { signerOf, bytesOf }
}

/** S2. The `Host` field counts only where it names the very address that was dialled. */
function targetOf({ headers, url, socket }: Came, publicUrl: string | undefined): string {
  const { localAddress = '', localPort = 0 } = socket
  const address = localAddress.replace(/^::ffff:/, '')
  const dialled = `${address.includes(':') ? `[${address}]` : address}:${localPort}`
  const isLoopback = address === '::1' || address.startsWith('127.')
  const isLocal = isLoopback && headers.host === `localhost:${localPort}`
  // Whoever came straight to us dialled what it sees; whoever came through a proxy did not.
  const isDirect = isLocal || headers.host === dialled
  if (publicUrl !== undefined && !isDirect) return `${publicUrl.replace(/\/$/, '')}${url}`
  const scheme = 'encrypted' in socket ? 'https' : 'http'
  return `${scheme}://${isLocal ? headers.host : dialled}${url}`
}
