/**
 * Reads an address that a stranger gave, as far as it can be judged before its name is resolved.
 *
 *   T1  http and https, without a name or password in it, within the length limit.
 *   T2  The host is an IP address or a well-formed name. A dot at its end is dropped, so that one
 *       host has one name in certificates, the Host header and the pool of connections.
 *   T3  With a list of hosts, only those (SF-6: unknown hosts are refused).
 */
import { LIMITS } from '@chimera/domain/limits'
import { literalIn } from './address.ts'
import { GuardFailure } from './failure.ts'

export type Target = {
  readonly url: URL
  readonly secure: boolean
  /** A name, or an IP address without brackets. */
  readonly host: string
  readonly port: number
}

export type TargetRules = {
  /** If given, the only hosts that are dialled: names in lower case, or IP addresses. */
  readonly onlyHosts?: readonly string[]
}

const PORTS = { 'http:': 80, 'https:': 443 } as const
const NAME =
  /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/

export function readTarget(text: string, { onlyHosts }: TargetRules = {}): Target {
  if (text.length > LIMITS.urlChars) throw refused('longer than an address may be')
  if (!URL.canParse(text)) throw refused('not an address')
  const url = new URL(text)
  const { protocol } = url
  if (protocol !== 'http:' && protocol !== 'https:') throw refused(`scheme ${protocol}`)
  if (url.username !== '' || url.password !== '') throw refused('a name or password in the address')

  url.hostname = url.hostname.replace(/\.$/, '')
  url.hash = ''
  const host = literalIn(url.hostname) ?? url.hostname
  if (host === url.hostname && !NAME.test(host)) throw refused('not a host name')
  if (onlyHosts && !onlyHosts.includes(host)) throw refused(`${host} is not a known host`)
  const port = url.port === '' ? PORTS[protocol] : Number(url.port)
  return { url, secure: protocol === 'https:', host, port }
}

const refused = (detail: string): GuardFailure => new GuardFailure('refused_address', detail)
