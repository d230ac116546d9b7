/**
 * Certificates for tests of TLS, made on the spot: an authority, and what it signs. Just enough of
 * X.509 to be believed by Node; keys are P-256, unless a test brings its own.
 */
import { createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { isIPv4 } from 'node:net'

export type Certified = { readonly cert: string; readonly key: string }

export type Authority = Certified & {
  /** `names` are host names or IPv4 addresses. */
  readonly certify: (common: string, names?: readonly string[], wish?: Wish) => Certified
}

export type Wish = {
  /** The private key to certify. */
  readonly key?: KeyObject
  /** Both as X.509 writes a time, such as `20200101000000Z`. */
  readonly valid?: readonly [from: string, until: string]
}

const der = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts)
  const { length } = content
  if (length < 0x80) return Buffer.concat([Buffer.of(tag, length), content])
  if (length < 0x100) return Buffer.concat([Buffer.of(tag, 0x81, length), content])
  return Buffer.concat([Buffer.of(tag, 0x82, length >> 8, length & 0xff), content])
}
const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts)
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'))
const text = (tag: number, value: string): Buffer => der(tag, Buffer.from(value))
const bits = (value: Uint8Array): Buffer => der(0x03, Buffer.of(0), value)

const ECDSA_SHA256 = sequence(oid('2a8648ce3d040302'))
const COMMON_NAME = oid('550403')
const BASIC_CONSTRAINTS = oid('551d13')
const ALTERNATIVE_NAMES = oid('551d11')
const TRUE = der(0x01, Buffer.of(0xff))
const LONG = ['20200101000000Z', '21200101000000Z'] as const

const named = (common: string): Buffer =>
  sequence(der(0x31, sequence(COMMON_NAME, text(0x0c, common))))

const extension = (id: Buffer, value: Buffer): Buffer => sequence(id, der(0x04, value))

function extensionsOf(authority: boolean, names: readonly string[]): Buffer {
  const alternatives = names.map((name) =>
    isIPv4(name) ? der(0x87, Buffer.from(name.split('.').map(Number))) : text(0x82, name),
  )
  return sequence(
    extension(BASIC_CONSTRAINTS, authority ? sequence(TRUE) : sequence()),
    ...(names.length > 0 ? [extension(ALTERNATIVE_NAMES, sequence(...alternatives))] : []),
  )
}

type Issue = {
  readonly serial: number
  readonly subject: string
  readonly issuer: string
  readonly key: KeyObject
  readonly signer: KeyObject
  readonly extensions: Buffer
  readonly valid: readonly [from: string, until: string]
}

function issue({ serial, subject, issuer, key, signer, extensions, valid }: Issue): Certified {
  const body = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, Buffer.of(serial)),
    ECDSA_SHA256,
    named(issuer),
    sequence(...valid.map((each) => text(0x18, each))),
    named(subject),
    createPublicKey(key).export({ type: 'spki', format: 'der' }),
    der(0xa3, extensions),
  )
  const whole = sequence(body, ECDSA_SHA256, bits(sign('sha256', body, signer)))
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${whole.toString('base64')}\n-----END CERTIFICATE-----\n`,
    key: key.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

const newKey = (): KeyObject => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey

export function createAuthority(issuer: string): Authority {
  const signer = newKey()
  const extensions = extensionsOf(true, [])
  let serial = 1
  return {
    ...issue({ serial, subject: issuer, issuer, key: signer, signer, extensions, valid: LONG }),
    certify: (subject, names = [], { key = newKey(), valid = LONG } = {}) => {
      serial += 1
      const own = extensionsOf(false, names)
      return issue({ serial, subject, issuer, key, signer, extensions: own, valid })
    },
  }
}
