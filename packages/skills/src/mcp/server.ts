/**
 * An MCP server as a user's settings name it: a command that is started here, or an address.
 *
 *   S1  Settings name variables and never hold their values: `${NAME}` in an address or a header,
 *       and a list of names for a command's environment.
 *   S2  What came out of a variable is a secret: it is taken out of whatever is said about the
 *       server.
 */
import { redactText } from '@chimera/host/redact'
import { cleanText } from './clean.ts'
import { McpFailure } from './failure.ts'

export type McpCommand = {
  readonly is: 'command'
  readonly command: string
  readonly args?: readonly string[]
  /** Variables that the command gets, by name, beside PATH, HOME and the like. */
  readonly env?: readonly string[]
  readonly cwd?: string
}

export type McpAddress = {
  readonly is: 'address'
  /** Streamable HTTP. `${NAME}` stands for a variable. */
  readonly url: string
  /** `{ authorization: 'Bearer ${NEWS_TOKEN}' }`. */
  readonly headers?: Readonly<Record<string, string>>
}

export type McpServer = { readonly name: string } & (McpCommand | McpAddress)

export type Environment = Readonly<Record<string, string | undefined>>

export type ResolvedServer = { readonly secrets: readonly string[] } & (
  | {
      readonly is: 'command'
      readonly command: string
      readonly args: readonly string[]
      readonly env: Readonly<Record<string, string>>
      readonly cwd?: string
    }
  | {
      readonly is: 'address'
      readonly url: string
      readonly headers: Readonly<Record<string, string>>
    }
)

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g
/** Of what is said about a server to its operator. */
const DETAIL_CHARS = 300
// Shorter ones would blacken words that only look like them.
const SECRET_CHARS = 4

/** Throws a `McpFailure` that names every variable that is not set. */
export function resolveServer(server: McpServer, environment: Environment): ResolvedServer {
  const used = new Map<string, string>()
  const missing = new Set<string>()
  const take = (name: string): string => {
    const value = environment[name]
    if (value === undefined || value === '') missing.add(name)
    else used.set(name, value)
    return value ?? ''
  }
  const fill = (text: string): string => text.replace(VARIABLE, (_, name: string) => take(name))
  const filled = (record: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(record).map(([name, value]) => [name, fill(value)]))

  const resolved =
    server.is === 'command'
      ? {
          is: server.is,
          command: server.command,
          args: server.args ?? [],
          env: Object.fromEntries((server.env ?? []).map((name) => [name, take(name)])),
          ...(server.cwd !== undefined && { cwd: server.cwd }),
        }
      : { is: server.is, url: fill(server.url), headers: filled(server.headers ?? {}) }
  if (missing.size > 0) {
    throw new McpFailure('misconfigured', `not set: ${[...missing].join(', ')}`)
  }
  return { ...resolved, secrets: [...used.values()] }
}

/** S2: words about a server, or from it, for its operator. */
export function sayOf(words: string, secrets: readonly string[]): string {
  // The longest first: one may be a part of another.
  const long = secrets
    .filter(({ length }) => length >= SECRET_CHARS)
    .flatMap((secret) => [secret, encodeURIComponent(secret)])
    .toSorted((one, other) => other.length - one.length)
  const safe = long.reduce((text, secret) => text.replaceAll(secret, '[secret]'), words)
  // And what looks like a secret, be it the server's own.
  return redactText(cleanText(safe), { showInside: true }).slice(0, DETAIL_CHARS)
}
