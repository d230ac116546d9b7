/**
 * Tokens of owners and operators: long random texts that say nothing by themselves.
 *
 *   Z1  A token is shown once, to the one it is made for. What is kept is its digest.
 *   Z2  It has 256 bits of chance, so a plain digest cannot be searched and needs no salt.
 *   Z3  It begins with `chm_`, so that the guard on the way out, and anybody's scanner of leaked
 *       secrets, knows one on sight.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { Digest } from '@chimera/domain/ids'
import { digestOf } from './canonical.ts'
import type { Random } from './keys.ts'

export type SecretKind = 'owner' | 'operator'

export type NewSecret = {
  /** To be shown and forgotten. */
  readonly text: string
  /** To be kept. */
  readonly digest: Digest
}

const SECRET = /^chm_(owner|operator)_[A-Za-z0-9_-]{43}$/

export function newSecretToken(kind: SecretKind, random: Random = randomBytes): NewSecret {
  const text = `chm_${kind}_${Buffer.from(random(32)).toString('base64url')}`
  return { text, digest: digestText(text) }
}

/** The digest to look a presented token up by; undefined for what was never one of ours. */
export function digestSecretToken(
  text: string,
): { readonly kind: SecretKind; readonly digest: Digest } | undefined {
  const [, kind] = SECRET.exec(text) ?? []
  if (kind !== 'owner' && kind !== 'operator') return undefined
  return { kind, digest: digestText(text) }
}

/** In constant time, for a store that compares here and not in its index. */
export function fitsSecretToken(text: string, kept: Digest): boolean {
  const presented = Buffer.from(digestText(text), 'hex')
  const known = Buffer.from(kept, 'hex')
  return known.length === presented.length && timingSafeEqual(known, presented)
}

const digestText = (text: string): Digest => digestOf(Buffer.from(text, 'utf8'))
