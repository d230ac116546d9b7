/**
 * Addresses that are not somebody's public machine, from the registries of RFC 6890 and what came
 * after it, with a name for the operator.
 *
 *   R1  IPv6 is refused unless it lies in the one block that is given out to the public (2000::/3),
 *       so that a range invented tomorrow is refused today.
 *   R2  An IPv4 address inside an IPv6 one is judged as what it reaches. Where the way there
 *       depends on somebody's relay (6to4, Teredo) it is refused whatever is inside.
 */
import ipaddr from 'ipaddr.js'

export type Ip = ipaddr.IPv4 | ipaddr.IPv6

type Block = readonly [name: string, cidr: string]

// biome-ignore format: a table is read by its columns
const SPECIAL_IPV4: readonly Block[] = [
  ['this network',         '0.0.0.0/8'],
  ['private',              '10.0.0.0/8'],
  ['carrier-grade NAT',    '100.64.0.0/10'],
  ['loopback',             '127.0.0.0/8'],
  ['cloud platform',       '168.63.129.16/32'],
  ['link-local',           '169.254.0.0/16'],
  ['private',              '172.16.0.0/12'],
  ['protocol assignments', '192.0.0.0/24'],
  ['documentation',        '192.0.2.0/24'],
  ['AS112',                '192.31.196.0/24'],
  ['multicast relay',      '192.52.193.0/24'],
  ['6to4 relay',           '192.88.99.0/24'],
  ['private',              '192.168.0.0/16'],
  ['AS112',                '192.175.48.0/24'],
  ['benchmarking',         '198.18.0.0/15'],
  ['documentation',        '198.51.100.0/24'],
  ['documentation',        '203.0.113.0/24'],
  ['multicast',            '224.0.0.0/4'],
  ['reserved',             '240.0.0.0/4'],
]

// biome-ignore format: a table is read by its columns
const SPECIAL_IPV6: readonly Block[] = [
  // Named, though they lie outside the public block, so that the operator reads what it was.
  ['unspecified',          '::/128'],
  ['loopback',             '::1/128'],
  ['IPv4-compatible',      '::/96'],
  ['IPv4-translated',      '::ffff:0:0:0/96'],
  ['local NAT64',          '64:ff9b:1::/48'],
  ['discard',              '100::/64'],
  ['segment routing',      '5f00::/16'],
  ['unique local',         'fc00::/7'],
  ['link-local',           'fe80::/10'],
  ['site-local',           'fec0::/10'],
  ['multicast',            'ff00::/8'],
  // Inside it.
  ['Teredo',               '2001::/32'],
  ['protocol assignments', '2001::/23'],
  ['documentation',        '2001:db8::/32'],
  ['6to4',                 '2002::/16'],
  ['AS112',                '2620:4f:8000::/48'],
  ['documentation',        '3fff::/20'],
]

const PUBLIC_IPV6 = '2000::/3'
const NAT64 = '64:ff9b::/96'

/** The name of the special range that an address lies in; undefined for a public address. */
export function specialRange(ip: Ip): string | undefined {
  const blocks = ip.kind() === 'ipv4' ? SPECIAL_IPV4 : SPECIAL_IPV6
  const special = blocks.find(([, cidr]) => isWithin(ip, cidr))
  if (special) return special[0]
  return ip.kind() === 'ipv4' || isWithin(ip, PUBLIC_IPV6) ? undefined : 'not public'
}

/**
 * The address that is reached in the end. `::ffff:10.0.0.1` is 10.0.0.1 by another name, and
 * 64:ff9b::a00:1 is what a network without IPv4 calls it (NAT64), which its resolver does for
 * public addresses too; those stay usable (R2).
 */
export function reachedBy(ip: Ip): Ip {
  if (!(ip instanceof ipaddr.IPv6)) return ip
  if (ip.isIPv4MappedAddress()) return ip.toIPv4Address()
  return isWithin(ip, NAT64) ? new ipaddr.IPv4(ip.toByteArray().slice(12)) : ip
}

export function isWithin(ip: Ip, cidr: string): boolean {
  const [block, bits] = ipaddr.parseCIDR(cidr)
  return ip.kind() === block.kind() && ip.match(block, bits)
}
