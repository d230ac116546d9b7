/** The signed claims by which NATS knows operators, accounts and users: its own kind of JWT. */
import { createHash } from 'node:crypto'
import type { Instant } from '@chimera/domain/ids'
import { base32, type NatsKey } from './nkeys.ts'

export type Claims = {
  readonly issuer: NatsKey
  /** The public key that it is about. */
  readonly subject: string
  readonly name: string
  readonly now: Instant
  readonly expiresAt?: Instant
  /** What NATS is told, by the kind of claim. */
  readonly nats: Readonly<Record<string, unknown>>
}

const HEADER = encode({ typ: 'JWT', alg: 'ed25519-nkey' })

export function signClaims({ issuer, subject, name, now, expiresAt, nats }: Claims): string {
  const claims = {
    iat: seconds(now),
    iss: issuer.publicKey,
    sub: subject,
    name,
    ...(expiresAt !== undefined && { exp: seconds(expiresAt) }),
    nats: { ...nats, version: 2 },
  }
  // The claims' own hash is their id.
  const digest = createHash('sha512-256').update(JSON.stringify(claims)).digest()
  const text = `${HEADER}.${encode({ jti: base32(digest), ...claims })}`
  return `${text}.${Buffer.from(issuer.sign(Buffer.from(text))).toString('base64url')}`
}

/** Rounded down: nothing lasts longer than it was given for. */
function seconds(at: Instant): number {
  return Math.floor(at / 1_000)
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
