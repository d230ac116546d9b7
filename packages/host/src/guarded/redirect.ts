/**
 * What to do with an answer that points elsewhere.
 *
 *   D1  The method never changes: where a redirect would turn a POST into a GET, the answer itself
 *       is handed back. 307 and 308 repeat the request with its body.
 *   D2  From https never to http.
 *   D3  To another origin without anything that proves who we are.
 */
import { isSecretName } from '@chimera/domain/disclosure'
import { GuardFailure } from './failure.ts'

export type Headers = Readonly<Record<string, string>>

export type Hop = {
  readonly url: URL
  readonly method: string
  readonly headers: Headers
}

const KEEPS_METHOD = [307, 308]
const MAY_CHANGE_IT = [301, 302, 303]
const SAFE = ['GET', 'HEAD']
// A signature is bound to the origin it was made for; elsewhere it could only be replayed.
const PROOFS = ['signature', 'signature-input', 'x-signature']

export type Answered = { readonly status: number; readonly location: string | undefined }

/** Undefined when the answer is the answer. The new address is not judged here. */
export function decideRedirect(hop: Hop, { status, location }: Answered): Hop | undefined {
  const followed =
    KEEPS_METHOD.includes(status) || (MAY_CHANGE_IT.includes(status) && SAFE.includes(hop.method))
  if (!followed || location === undefined) return undefined
  if (!URL.canParse(location, hop.url.href)) {
    throw new GuardFailure('refused_address', 'redirected to what is not an address')
  }
  const url = new URL(location, hop.url)
  if (hop.url.protocol === 'https:' && url.protocol !== 'https:') {
    throw new GuardFailure('refused_address', 'redirected from https to less')
  }
  return { ...hop, url, headers: url.origin === hop.url.origin ? hop.headers : bare(hop.headers) }
}

function bare(headers: Headers): Headers {
  const kept = Object.entries(headers).filter(([name]) => {
    const known = name.toLowerCase()
    return !PROOFS.includes(known) && !isSecretName(known.replaceAll('-', '_'))
  })
  return Object.fromEntries(kept)
}
