/**
 * An address by EIP-55: the case of its letters is a checksum. One written in a single case carries
 * none and is taken; one in both must fit.
 */
import { keccak256 } from './keccak.ts'

const ADDRESS = /^0x[0-9a-fA-F]{40}$/

/** In lower case, by which it is compared; undefined when it is none, or was mistyped. */
export function readAddress(text: string): string | undefined {
  if (!ADDRESS.test(text)) return undefined
  const digits = text.slice(2)
  const isPlain = digits === digits.toLowerCase() || digits === digits.toUpperCase()
  return isPlain || writeAddress(text) === text ? text.toLowerCase() : undefined
}

/** With its checksum. */
export function writeAddress(address: string): string {
  const digits = address.slice(2).toLowerCase()
  const hash = keccak256(Buffer.from(digits, 'ascii'))
  const written = Array.from(digits, (digit, at) => {
    const byte = hash[at >> 1] ?? 0
    const nibble = at % 2 === 0 ? byte >> 4 : byte & 15
    return nibble >= 8 ? digit.toUpperCase() : digit
  })
  return `0x${written.join('')}`
}
