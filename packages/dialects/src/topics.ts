/**
 * Where on the bus each message is said: the topics of the documents, and ours. The AsyncAPI
 * document, the subscriptions of hubs and what an agent may do at a broker all come from here.
 *
 *   T1  Every subject of an agent has the agent's id as a word of its own, so that a broker can
 *       let it say and hear what is its own and nothing else (AV-12).
 *   T2  What the hub says of an agent is under `chimera`, where no agent may say anything. What an
 *       agent says of itself is an observation, under the name of its document.
 */
import type { AgentId, CorrelationId, InstanceId } from '@chimera/domain/ids'
import { CAPABILITY_TOPIC, PRESENCE_TOPIC, reserveQueue } from './moltbook/words.ts'
import { isUuid, readUuid } from './wire.ts'

/** Orders to all agents. Those to an owner's go to each of them: an owner's name is no subject. */
const CONTROL_ALL = 'chimera.control.all'

type MessageName = `${string}/${string}`

export type Channel = {
  readonly name: string
  /** A parameter stands for one word, and is an id. */
  readonly subject: string
  readonly about: string
  readonly message: MessageName
  /** What the listener answers with, where the sender waits for it. */
  readonly answer?: MessageName
  /** What an agent does there; a hub does the other thing, and hears all. */
  readonly agents: 'say' | 'hear' | 'both'
  /** Whether it must not be lost: a stream keeps it. */
  readonly kept?: true
}

// biome-ignore format: a table is read by its columns
export const CHANNELS: readonly Channel[] = [
  { name: 'presence',   subject: PRESENCE_TOPIC,                          agents: 'say',  message: 'moltbook/presence',              about: 'An instance is alive, every 10 s' },
  { name: 'capability', subject: CAPABILITY_TOPIC,                        agents: 'say',  message: 'moltbook/capability',            about: 'What an instance can do has changed' },
  { name: 'reserve',    subject: 'moltbook.reserve.{instance}',           agents: 'both', message: 'moltbook/reserve-offer',         about: 'A planner asks an instance for slots', answer: 'moltbook/reserve-ack' },
  { name: 'release',    subject: 'moltbook.release.{instance}.{planner}', agents: 'both', message: 'moltbook/release',               about: 'A reservation is given back, signed by either side' },
  { name: 'rotation',   subject: 'moltbook.rotation.{agent}',             agents: 'say',  message: 'moltbook/key-rotation',          about: 'An agent introduces its next key' },
  { name: 'identity',   subject: 'openclaw.identity.{agent}',             agents: 'both', message: 'openclaw/identity',              about: 'Who an agent is and what it offers, on start and on change' },
  { name: 'status',     subject: 'openclaw.status.{agent}',               agents: 'both', message: 'openclaw/status-update',         about: 'What an agent says of its status' },
  { name: 'figures',    subject: 'openclaw.reputation.{agent}',           agents: 'both', message: 'openclaw/reputation-update',     about: 'What an agent says of its own reputation; nobody adopts it' },
  { name: 'request',    subject: 'openclaw.request.{requester}.{agent}',  agents: 'both', message: 'openclaw/collaboration-request', about: 'One agent asks another for work, signed', answer: 'openclaw/collaboration-response' },
  { name: 'cancel',     subject: 'openclaw.cancel.{requester}.{agent}',   agents: 'both', message: 'openclaw/collaboration-cancel',  about: 'A requester cancels work that has not ended, signed', answer: 'openclaw/collaboration-result' },
  { name: 'response',   subject: 'openclaw.response.{agent}.{requester}', agents: 'both', message: 'openclaw/collaboration-response', about: 'The final word on a request that was deferred', kept: true },
  { name: 'result',     subject: 'openclaw.result.{agent}.{requester}',   agents: 'both', message: 'openclaw/collaboration-result',  about: 'How work ended, signed by the agent; said by a hub where the agent told it over HTTP', kept: true },
  { name: 'reputation', subject: 'chimera.reputation.{agent}',            agents: 'hear', message: 'openclaw/reputation-update',     about: 'The window score that the hub has counted', kept: true },
  { name: 'control',    subject: 'chimera.control.{agent}',               agents: 'hear', message: 'chimera/control-order',          about: 'An order to this agent or to all of its owner, signed by the hub; also to be had by asking' },
  { name: 'control-all', subject: CONTROL_ALL,                            agents: 'hear', message: 'chimera/control-order',          about: 'An order to all agents, signed by the hub; also to be had by asking' },
]

/**
 * Where hubs of one database tell each other what they took in. Not in the table: no agent says or
 * hears anything there, and what stands in a notice is the hubs' own affair.
 */
export const HUB_NOTICES = 'chimera.hub.notice'

/** All subjects of a channel, for whoever hears them all. */
export function patternOf(name: string): string {
  return subjectFor(name, '*').replaceAll(/\{\w+\}/g, '*')
}

/** The subject of a channel for one agent, or for all of them. */
export function subjectFor(name: string, agent: AgentId | '*'): string {
  const channel = CHANNELS.find((each) => each.name === name)
  if (channel === undefined) throw new Error(`no channel has the name ${name}`)
  return channel.subject.replace('{agent}', agent)
}

/** Where an order is said, to one agent or to all of them. */
export function controlSubject(to: AgentId | 'all'): string {
  return to === 'all' ? CONTROL_ALL : subjectFor('control', to)
}

/** Where one agent speaks to another: first who speaks, then to whom. */
export function subjectBetween(
  name: 'request' | 'cancel' | 'response',
  by: AgentId | '*',
  to: AgentId | '*',
): string {
  return `openclaw.${name}.${by}.${to}`
}

/** Who speaks to another, by the subject alone. */
export function speakerIn(subject: string): AgentId | undefined {
  const word = subject.split('.').at(-2) ?? ''
  return isUuid(word) ? readUuid<AgentId>(word) : undefined
}

/** Where an instance and a planner tell that a reservation is given back. */
export function releaseSubject(instance: InstanceId, planner: AgentId | '*'): string {
  return `moltbook.release.${instance}.${planner}`
}

export type Place = {
  readonly subject: string
  /** What it belongs to. */
  readonly correlation?: CorrelationId
  /** Of a message that is said once: what is the same when it is said again. */
  readonly same?: string
}

/** Where a message of an agent, or about one, is said. */
export function placeOf(name: string, message: object): Place | undefined {
  const { agent_id: agent, correlation_id, trace_id }: Spoken = message
  const id = correlation_id ?? trace_id
  const belongs = typeof id === 'string' ? { correlation: id as CorrelationId } : {}
  if (name === 'result') {
    const place = resultPlace(message)
    return place && { ...place, ...belongs }
  }
  if (!isId(agent)) return undefined
  return { subject: subjectFor(name, readUuid<AgentId>(agent)), ...belongs }
}

/** A result that does not say for whom it is has no place. */
function resultPlace(message: Spoken): Place | undefined {
  const { responder_agent_id: agent, requester_agent_id: requester, collaboration_id } = message
  if (!isId(agent) || !isId(requester) || !isId(collaboration_id)) return undefined
  const [by, to, work] = [agent, requester, collaboration_id].map((each) => readUuid<AgentId>(each))
  return { subject: `openclaw.result.${by}.${to}`, same: `${by}.${work}` }
}

const isId = (value: unknown): value is string => typeof value === 'string' && isUuid(value)

type Spoken = {
  readonly responder_agent_id?: unknown
  readonly requester_agent_id?: unknown
  readonly collaboration_id?: unknown
  readonly agent_id?: unknown
  readonly correlation_id?: unknown
  readonly trace_id?: unknown
}

/** What streams keep, as patterns. */
export const KEPT_SUBJECTS: readonly string[] = CHANNELS.filter(({ kept }) => kept).map(
  ({ subject }) => subject.replaceAll(/\{\w+\}/g, '*'),
)

/** Who somebody is on the bus: an agent, with the instances that it runs. */
export type Speaker = { readonly agent: AgentId; readonly instances: readonly InstanceId[] }

/** What an agent may say and hear at a broker (T1). */
export function subjectsOf({ agent, instances }: Speaker): {
  readonly publish: readonly string[]
  readonly subscribe: readonly string[]
} {
  const own = instances.flatMap((each) => [reserveQueue(each), releaseSubject(each, '*')])
  return {
    publish: [
      PRESENCE_TOPIC,
      CAPABILITY_TOPIC,
      // Offers and notices are signed, and any planner may make them to any instance.
      'moltbook.reserve.*',
      'moltbook.release.*.*',
      `moltbook.rotation.${agent}`,
      `openclaw.identity.${agent}`,
      `openclaw.status.${agent}`,
      `openclaw.reputation.${agent}`,
      `openclaw.request.${agent}.*`,
      `openclaw.cancel.${agent}.*`,
      `openclaw.response.${agent}.*`,
      `openclaw.result.${agent}.*`,
    ],
    subscribe: [
      ...own,
      `moltbook.release.*.${agent}`,
      'openclaw.identity.*',
      'openclaw.status.*',
      'openclaw.reputation.*',
      `openclaw.request.*.${agent}`,
      `openclaw.cancel.*.${agent}`,
      `openclaw.response.*.${agent}`,
      `openclaw.result.*.${agent}`,
      'chimera.reputation.*',
      `chimera.control.${agent}`,
      CONTROL_ALL,
    ],
  }
}
