/**
 * May this address be dialled? Asked of the address that will be dialled, never of a name.
 *
 *   A1  Only a whole, ordinary IP address is judged. Short, octal, decimal and hexadecimal forms
 *       are turned into one by the URL reader, which reads them as the system would.
 *   A2  What is dialled is the judged address itself, written anew from its bytes: nobody reads
 *       the stranger's text a second time.
 *   A3  A special address is refused unless the operator has listed it (`--allow-net`).
 */
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { Allowance } from './allowance.ts'
import { type Ip, reachedBy, specialRange } from './ranges.ts'

export type AddressChecked =
  | {
      readonly ok: true
      readonly address: string
      /** Whether the operator has listed it. */
      readonly listed: boolean
    }
  | { readonly ok: false; readonly why: string }

export function checkAddress(text: string, allowance: Allowance): AddressChecked {
  const ip = readIp(text)
  if (!ip) return { ok: false, why: 'not an IP address' }
  const reached = reachedBy(ip)
  // A mapped address is dialled as what it is; a NAT64 one only works as it stands.
  const dialled = isMapped(ip) ? reached : ip
  const address = dialled.toString()
  if (allowance.covers(reached) || allowance.covers(ip)) return { ok: true, address, listed: true }
  const range = specialRange(reached)
  return range ? { ok: false, why: `${range} address` } : { ok: true, address, listed: false }
}

/** Undefined for what is not a whole address; one with a zone is bound to this machine's links. */
export function readIp(text: string): Ip | undefined {
  if (isIP(text) === 4) return ipaddr.IPv4.parse(text)
  if (isIP(text) !== 6 || text.includes('%')) return undefined
  // The URL reader writes dotted endings as digits; ours takes `::127.0.0.1` for a mapped one.
  return ipaddr.IPv6.parse(new URL(`http://[${text}]`).hostname.slice(1, -1))
}

/** The address that a host name of a URL is already, if it is one. */
export function literalIn(hostname: string): string | undefined {
  if (hostname.startsWith('[')) return hostname.slice(1, -1)
  return isIP(hostname) === 4 ? hostname : undefined
}

function isMapped(ip: Ip): boolean {
  return ip instanceof ipaddr.IPv6 && ip.isIPv4MappedAddress()
}
