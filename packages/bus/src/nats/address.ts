/**
 * Reads the address of a broker as an operator writes it: `nats://host:port` or `tls://host:port`,
 * several with commas between, a user and password or a token in front of the host.
 */
import { Failure } from '../failure.ts'
import type { Credentials } from './credentials.ts'

export type NatsAddress = {
  readonly addresses: readonly string[]
  readonly credentials?: Credentials
}

const PORT = 4_222

export function readNatsAddress(text: string): NatsAddress {
  const urls = text.split(',').map((each) => readUrl(each.trim()))
  const addresses = urls.map(({ protocol, host, port }) => {
    return `${protocol}//${port === '' ? `${host}:${PORT}` : host}`
  })
  const shown = urls.find(({ username }) => username !== '')
  if (shown === undefined) return { addresses }
  const user = decodeURIComponent(shown.username)
  const password = decodeURIComponent(shown.password)
  const credentials: Credentials =
    password === '' ? { kind: 'token', token: user } : { kind: 'password', user, password }
  return { addresses, credentials }
}

function readUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const plain = url && ['', '/'].includes(url.pathname) && url.search === '' && url.hash === ''
  if (!plain || !['nats:', 'tls:'].includes(url.protocol) || url.host === '') {
    // It may hold a password, so it is not repeated.
    throw new Failure('address_malformed', 'expected nats://host:port or tls://host:port')
  }
  return url
}
