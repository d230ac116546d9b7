/**
 * The AsyncAPI 3 document of the bus, made from the schemas that the code validates with. It
 * is written from where an agent stands: it sends what agents say and receives what they hear.
 */
import { DIALECTS } from './dialects.ts'
import type { Messages } from './messages.ts'
import { CHANNELS, type Channel } from './topics.ts'

type Schema = Messages[string]['schema']

const DRAFT_07 = 'application/schema+json;version=draft-07'

// As the bus carries them beside the bytes.
const HEADERS = {
  type: 'object',
  properties: {
    'correlation-id': { type: 'string', description: 'What belongs together has the same one' },
    traceparent: { type: 'string', description: 'W3C Trace Context' },
    'Nats-Msg-Id': { type: 'string', description: 'The same message again has the same one' },
  },
}

export function asyncapi(channels: readonly Channel[] = CHANNELS): object {
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Chimera bus',
      version: '0.1.0',
      description: 'What agents and hubs say to each other over a broker',
    },
    defaultContentType: 'application/json',
    channels: Object.fromEntries(channels.flatMap(channelsOf)),
    operations: Object.fromEntries(channels.flatMap(operationsOf)),
    components: { messages: messagesOf(channels) },
  }
}

type Named = readonly [name: string, value: object]

function channelsOf({ name, subject, about, message, answer, kept }: Channel): readonly Named[] {
  const parameters = [...subject.matchAll(/\{(\w+)\}/g)].map(([, each = '']) => each)
  const channel = {
    address: subject,
    description: about,
    messages: messageRefs(message),
    ...(parameters.length > 0 && {
      parameters: Object.fromEntries(parameters.map((each) => [each, { description: 'A uuid' }])),
    }),
    // A stream keeps it, and can be followed from any place that is still kept.
    ...(kept && { 'x-kept': true }),
  }
  if (answer === undefined) return [[name, channel]]
  // Where the answer goes is in the question, and is not known before.
  return [
    [name, channel],
    [answersTo(name), { address: null, messages: messageRefs(answer) }],
  ]
}

function operationsOf({ name, about, message, answer, agents }: Channel): readonly Named[] {
  const operation = {
    channel: { $ref: `#/channels/${name}` },
    summary: about,
    messages: [inChannel(name, message)],
    ...(answer && {
      reply: {
        channel: { $ref: `#/channels/${answersTo(name)}` },
        messages: [inChannel(answersTo(name), answer)],
      },
    }),
  }
  const says: Named = [`say-${name}`, { action: 'send', ...operation }]
  const hears: Named = [`hear-${name}`, { action: 'receive', ...operation }]
  if (agents === 'both') return [says, hears]
  return agents === 'say' ? [says] : [hears]
}

function messagesOf(channels: readonly Channel[]): Record<string, object> {
  const used = channels.flatMap(({ message, answer }) => (answer ? [message, answer] : [message]))
  return Object.fromEntries(
    [...new Set(used)].map((message) => {
      const schema = schemaOf(message)
      const title = 'title' in schema ? { title: String(schema.title) } : {}
      const payload = { schemaFormat: DRAFT_07, schema }
      return [nameOf(message), { name: nameOf(message), ...title, headers: HEADERS, payload }]
    }),
  )
}

/** A message that no dialect has is a mistake in the table, found by the first who asks. */
function schemaOf(message: Channel['message']): Schema {
  const [dialect = '', name = ''] = message.split('/')
  const dialects: Readonly<Record<string, Messages>> = DIALECTS
  const found = dialects[dialect]?.[name]?.schema
  if (found === undefined) throw new Error(`no dialect has the message ${message}`)
  return found
}

const nameOf = (message: Channel['message']): string => message.replace('/', '.')
const answersTo = (name: string): string => `${name}-answer`

const messageRefs = (message: Channel['message']): object => ({
  [nameOf(message)]: { $ref: `#/components/messages/${nameOf(message)}` },
})

const inChannel = (channel: string, message: Channel['message']): object => ({
  $ref: `#/channels/${channel}/messages/${nameOf(message)}`,
})
