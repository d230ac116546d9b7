/**
 * `Content-Digest` (RFC 9530): ties a body to a signature that covers only header fields.
 *
 *   O1  Made with sha-256. Of a received field every algorithm we know must fit, and one must be
 *       there; those that we do not know, or that are broken (md5, sha), prove nothing.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import { parseDictionary, serializeDictionary } from 'structured-headers'

const HASHES: ReadonlyMap<string, string> = new Map([
  ['sha-256', 'sha256'],
  ['sha-512', 'sha512'],
])

export function contentDigest(body: Uint8Array): string {
  return serializeDictionary({ 'sha-256': createHash('sha256').update(body).digest() })
}

export function fitsContentDigest(field: string, body: Uint8Array): boolean {
  let fitting = 0
  for (const [algorithm, claimed] of readDigests(field)) {
    const hash = HASHES.get(algorithm)
    if (hash === undefined) continue
    const actual = createHash(hash).update(body).digest()
    if (claimed.length !== actual.length || !timingSafeEqual(claimed, actual)) return false
    fitting += 1
  }
  return fitting > 0
}

/** A field that is not a dictionary of byte sequences holds no digest. */
function readDigests(field: string): ReadonlyMap<string, Uint8Array> {
  const digests = new Map<string, Uint8Array>()
  try {
    for (const [algorithm, [value]] of parseDictionary(field)) {
      const item: unknown = value
      digests.set(algorithm, item instanceof ArrayBuffer ? new Uint8Array(item) : new Uint8Array())
    }
  } catch {
    digests.clear()
  }
  return digests
}
