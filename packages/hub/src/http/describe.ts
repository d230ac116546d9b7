/**
 * A call in the words of OpenAPI 3.1: its door as a tag, its parameters with their types, what it
 * takes and answers by reference, and who may make it.
 */
import { ErrorBody } from '@chimera/dialects/error'
import { EXAMPLES } from '@chimera/dialects/examples'
import { OwnerName, Uuid } from '@chimera/dialects/wire'
import { LIMITS } from '@chimera/domain/limits'
import { DOORS, type Door, doorOf } from './doors.ts'
import { type Message, messageOf } from './published.ts'

export type Call = {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  readonly path: string
  readonly about: string
  readonly query?: Message
  readonly body?: Message
  /** What the call takes as well. */
  readonly orBody?: Message
  readonly status: number
  readonly answer?: Message
  /** What the answer is written in, if not in JSON. */
  readonly sends?: string
  /** Anybody may make it, whoever they are. */
  readonly open?: true
  /** The same for everybody, and made at the start: nothing in it is anybody's. */
  readonly fixed?: true
}

export const SECURITY = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description:
      'A token of an owner or an operator (`/v1/owners`, `/v1/tokens`), or a short-lived one ' +
      'that was given for a token or a signature (`/v1/tokens/session`).',
  },
  signature: {
    type: 'apiKey',
    in: 'header',
    name: 'Signature',
    description:
      "An HTTP message signature (RFC 9421) by the agent's Ed25519 key, over `@method`, " +
      '`@target-uri` and, with a body, `content-digest`; with `created`, a `nonce` and the ' +
      'thumbprint of the key as `keyid` in `Signature-Input`. The first one brings the public ' +
      'key itself in `X-Chimera-Key`.',
  },
} as const

/** The order in which a reader meets them. */
export const TAGS = ['Chorus', 'OpenClaw', 'MoltBook', 'Status feed', 'Chimera', 'Operations']
  .flatMap((name) => DOORS.filter((door) => door.name === name))
  .map(({ name, about: description }) => ({ name, description }))

export function describeCall(call: Call): object {
  const { path, about, query, body, orBody, status, answer, open } = call
  const { sends = 'application/json' } = call
  const door = doorOf(path)
  const shape = answer === undefined ? undefined : { schema: refTo(answer) }
  return {
    operationId: idOf(call),
    tags: [door.name],
    summary: about,
    parameters: [...pathParameters(path, door), ...queryParameters(query, path)],
    ...(body && { requestBody: { required: true, content: jsonOf(body, orBody) } }),
    responses: {
      [status]: {
        description: about,
        ...(status !== 204 && { content: { [sends]: shape ?? {} } }),
      },
      default: { $ref: `#/components/responses/${errorOf(door)}` },
    },
    security: open ? [] : [{ bearer: [] }, { signature: [] }],
  }
}

/** The errors of each door. */
export function describeErrors(): Record<string, object> {
  return Object.fromEntries(
    DOORS.map((door) => [
      errorOf(door),
      {
        description: 'What is wrong and what to do next',
        content: { 'application/json': { schema: { $ref: `${SCHEMAS}${errorOf(door)}` } } },
      },
    ]),
  )
}

/** Only what is referred to: the rest is under /schemas. */
export function describeSchemas(calls: readonly Call[]): Record<string, object> {
  const errors: readonly string[] = DOORS.map(({ error }) => error)
  const used = [
    ...calls.flatMap(({ body, orBody, answer }) => [body, orBody, answer]),
    ...errors,
  ].filter((each): each is Message => each?.includes('/') ?? false)
  const named = [...new Set(used)].map((each) => [nameOf(each), messageOf(each)?.schema ?? {}])
  return { error: ErrorBody, ...Object.fromEntries(named) }
}

const SCHEMAS = '#/components/schemas/'
const nameOf = (message: Message): string => message.replace('/', '.')
const refTo = (message: Message) => ({ $ref: `${SCHEMAS}${nameOf(message)}` })

/** A door without a message of its own for errors has the one that all share. */
const errorOf = ({ error }: Door): string =>
  error.includes('/') ? error.replace('/', '.') : 'error'

const idOf = ({ method, path }: Call): string =>
  [method, ...path.split(/\W+/).filter((word) => word !== '')].join('_')

function jsonOf(message: Message, other: Message | undefined): object {
  const example = EXAMPLES[message]
  const schema = other ? { oneOf: [refTo(message), refTo(other)] } : refTo(message)
  return {
    'application/json': { schema, ...(example !== undefined && { example }) },
  }
}

const ALIAS = { type: 'string', minLength: 1, maxLength: LIMITS.nameChars }
const TEXT = { type: 'string', minLength: 1, maxLength: LIMITS.keyChars }

function pathParameters(path: string, door: Door): object[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: typeOf(name, door),
  }))
}

function typeOf(name: string, door: Door): object {
  // The feed's ids are free names.
  if (door.name === 'Status feed') return ALIAS
  if (name === 'id' || name.endsWith('_id')) return Uuid
  return name === 'owner' ? OwnerName : TEXT
}

type Described = {
  readonly properties?: Readonly<Record<string, { readonly description?: string }>>
  readonly required?: readonly string[]
}

/** A message that is read from path and query together has its part in the path already. */
function queryParameters(query: Message | undefined, path: string): object[] {
  const schema: Described | undefined = query && messageOf(query)?.schema
  const members = Object.entries(schema?.properties ?? {})
  const asked = members.filter(([name]) => !path.includes(`{${name}}`))
  return asked.map(([name, member]) => ({
    name,
    in: 'query',
    required: schema?.required?.includes(name) ?? false,
    ...(member.description !== undefined && { description: member.description }),
    schema: member,
    // Lists are written with commas, as the reader of queries takes them.
    style: 'form',
    explode: false,
  }))
}
