/**
 * The hash of a value: SHA-256 over its one canonical text. For a value that JSON can hold this is
 * the text of RFC 8785, so others come to the same hash.
 */
import { hash } from 'node:crypto'
import type { Digest } from '@chimera/domain/ids'
import { canonicalText } from './canonical-text.ts'

export function digestOf(value: unknown): Digest {
  return hash('sha256', canonicalText(value), 'hex') as Digest
}
