/**
 * The OpenAPI 3.1 document of the hub, made from the schemas that the code validates with.
 * The table names each call once; a test holds it to the routes that are really served.
 */
import { DIALECTS } from '@chimera/dialects/dialects'
import { ErrorBody } from '@chimera/dialects/error'
import type { Messages } from '@chimera/dialects/messages'

type Message = `${string}/${string}`

type Call = {
  readonly method: 'get' | 'post' | 'delete'
  readonly path: string
  readonly about: string
  readonly query?: Message
  readonly body?: Message
  readonly status: number
  readonly answer?: Message
}

// biome-ignore format: a table is read by its columns
export const CALLS: readonly Call[] = [
  { method: 'post',   path: '/register',                about: 'An agent announces itself',             body: 'chorus/registration',       status: 201, answer: 'chorus/registered' },
  { method: 'post',   path: '/heartbeat',               about: 'An agent says that it is alive',        body: 'chorus/heartbeat',          status: 200, answer: 'chorus/heartbeat-seen' },
  { method: 'get',    path: '/discover',                about: 'Find agents by skill, ranked',          query: 'chorus/discovery',         status: 200, answer: 'chorus/discovered' },
  { method: 'get',    path: '/agents/{id}',             about: 'One agent',                             status: 200, answer: 'chorus/agent-entry' },
  { method: 'delete', path: '/agents/{id}',             about: 'Remove an agent; its score is kept',    status: 204 },
  { method: 'get',    path: '/skills',                  about: 'The skills on offer',                   status: 200, answer: 'chorus/skill-list' },
  { method: 'get',    path: '/reputation/{id}',         about: 'The score of an agent',                 status: 200, answer: 'chorus/reputation' },
  { method: 'post',   path: '/reputation/{id}/success', about: 'A hirer reports a paid job',            query: 'chorus/reputation-report', status: 200, answer: 'chorus/reputation' },
  { method: 'post',   path: '/reputation/{id}/failure', about: 'A hirer reports a failed job',          query: 'chorus/reputation-report', status: 200, answer: 'chorus/reputation' },
  { method: 'post',   path: '/accounts',                about: 'Open an account',                       body: 'chorus/account-opening',    status: 201, answer: 'chorus/account' },
  { method: 'get',    path: '/accounts/{owner}',        about: 'The balance of an owner',               status: 200, answer: 'chorus/account' },
  { method: 'post',   path: '/transfer',                about: 'Pay; the same transfer is paid once',   body: 'chorus/transfer',           status: 200, answer: 'chorus/transfer-done' },
  { method: 'get',    path: '/audit',                   about: 'Transfers, the latest first',           query: 'chorus/audit-query',       status: 200, answer: 'chorus/audit-list' },
  { method: 'get',    path: '/economy',                 about: 'Sums over all accounts',                status: 200, answer: 'chorus/economy' },
  { method: 'post',   path: '/moltbook/v1/presence',    about: 'A signed presence post',                body: 'moltbook/presence',         status: 204 },
  { method: 'post',   path: '/moltbook/v1/capability',  about: 'A signed capability declaration',       body: 'moltbook/capability',       status: 204 },
  { method: 'get',    path: '/moltbook/v1/directory',   about: 'Find instances, ranked for a planner',  query: 'moltbook/directory-query', status: 200, answer: 'moltbook/directory' },
  { method: 'get',    path: '/moltbook/v1/presence-events', about: 'Posts of the last 24 hours, believed or not', query: 'moltbook/presence-events-query', status: 200, answer: 'moltbook/presence-events' },
  { method: 'post',   path: '/ingest/chimera-status',   about: 'A status of the feed',                  body: 'feed/status',               status: 202, answer: 'feed/accepted' },
  { method: 'get',    path: '/ingest/chimera-status/{agent_id}', about: 'What the feed last said of a name', status: 200, answer: 'feed/feed-state' },
  { method: 'post',   path: '/openclaw/v1/identities',  about: 'An agent publishes its identity',       body: 'openclaw/identity',         status: 204 },
  { method: 'get',    path: '/openclaw/v1/identities/{id}', about: 'An agent as the hub knows it',      status: 200, answer: 'openclaw/identity' },
  { method: 'post',   path: '/openclaw/v1/status',      about: 'An agent publishes its status',         body: 'openclaw/status-update',    status: 204 },
  { method: 'get',    path: '/openclaw/v1/status/{id}', about: 'The status of an agent, as the hub knows it', status: 200, answer: 'openclaw/status-update' },
  { method: 'post',   path: '/openclaw/v1/reputation',  about: 'An agent publishes its own figures; they are not adopted', body: 'openclaw/reputation-update', status: 204 },
  { method: 'get',    path: '/openclaw/v1/reputation/{id}', about: 'The window score that the hub has counted', status: 200, answer: 'openclaw/reputation-update' },
  { method: 'post',   path: '/v1/owners',               about: 'An operator makes an owner and its token', body: 'chimera/new-owner', status: 201, answer: 'chimera/token-made' },
  { method: 'post',   path: '/v1/tokens',               about: 'A further token of the caller\'s own kind', body: 'chimera/new-token', status: 201, answer: 'chimera/token-made' },
  { method: 'get',    path: '/v1/tokens',               about: 'The tokens of an owner, without their text', query: 'chimera/token-query', status: 200, answer: 'chimera/token-list' },
  { method: 'delete', path: '/v1/tokens/{id}',          about: 'Revoke a token and the sessions given for it', status: 204 },
  { method: 'post',   path: '/v1/tokens/session',       about: 'A short-lived token for a token or a signature', body: 'chimera/new-session', status: 201, answer: 'chimera/session-made' },
  { method: 'get',    path: '/health',                  about: 'Whether the hub is alive',              status: 200, answer: 'chorus/health' },
  { method: 'get',    path: '/ready',                   about: 'Whether the hub can work',              status: 200 },
  { method: 'get',    path: '/metrics',                 about: 'Figures in the format of Prometheus',   status: 200 },
  { method: 'get',    path: '/openapi.json',            about: 'This document',                         status: 200 },
  { method: 'get',    path: '/schemas',                 about: 'The names of all published schemas',    status: 200 },
  { method: 'get',    path: '/schemas/{dialect}/{message}', about: 'One JSON Schema (draft-07)',        status: 200 },
]

export function openapi(): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const call of CALLS) {
    paths[call.path] = { ...paths[call.path], [call.method]: operation(call) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Chimera hub',
      version: '0.1.0',
      description: 'An agent network that you can run',
    },
    paths,
    components: { schemas: components() },
  }
}

/** A published schema by dialect and message; undefined when there is none of that name. */
export function schemaOf(dialect: string, message: string): Messages[string]['schema'] | undefined {
  const dialects: Readonly<Record<string, Messages>> = DIALECTS
  if (!Object.hasOwn(dialects, dialect)) return undefined
  const messages = dialects[dialect]
  return messages && Object.hasOwn(messages, message) ? messages[message]?.schema : undefined
}

export function schemaNames(): readonly Message[] {
  return Object.entries(DIALECTS).flatMap(([dialect, messages]) =>
    Object.keys(messages).map((message): Message => `${dialect}/${message}`),
  )
}

function operation(call: Call): object {
  return {
    summary: call.about,
    parameters: [...pathParameters(call.path), ...queryParameters(call.query)],
    ...(call.body && { requestBody: { required: true, content: json(refTo(call.body)) } }),
    responses: {
      [call.status]: {
        description: call.about,
        ...(call.answer && { content: json(refTo(call.answer)) }),
      },
      default: { description: 'What is wrong and what to do next', content: json(ERROR) },
    },
  }
}

const ERROR = { $ref: '#/components/schemas/error' }
const json = (schema: object) => ({ 'application/json': { schema } })
const refTo = (message: Message) => ({ $ref: `#/components/schemas/${nameOf(message)}` })
const nameOf = (message: Message) => message.replace('/', '.')

function pathParameters(path: string): object[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
}

type Described = {
  readonly properties?: Readonly<Record<string, object>>
  readonly required?: readonly string[]
}

function queryParameters(query: Message | undefined): object[] {
  const [dialect = '', message = ''] = query?.split('/') ?? []
  const schema: Described | undefined = schemaOf(dialect, message)
  return Object.entries(schema?.properties ?? {}).map(([name, member]) => ({
    name,
    in: 'query',
    required: schema?.required?.includes(name) ?? false,
    schema: member,
    // Lists are written with commas, as the reader of queries takes them.
    style: 'form',
    explode: false,
  }))
}

/** Only what is referred to: the rest is under /schemas. */
function components(): Record<string, object> {
  const used = CALLS.flatMap(({ body, answer }) => [body, answer]).filter(
    (each) => each !== undefined,
  )
  const named = [...new Set(used)].map((message) => {
    const [dialect = '', name = ''] = message.split('/')
    return [nameOf(message), schemaOf(dialect, name) ?? {}] as const
  })
  return { error: ErrorBody, ...Object.fromEntries(named) }
}
