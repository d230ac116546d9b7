/**
 * What agents say on the bus, taken in as if it had come over HTTP.
 *
 *   I1  The hubs are one queue: each message is judged and kept by one of them, and the others hear
 *       of it by a notice.
 *   I2  Posts, declarations, rotations and releases prove themselves. What agents say of themselves
 *       unsigned counts only where the broker holds each agent to its own subjects, or where the
 *       hub is open.
 *   I3  Nobody waits for an answer: what is refused is counted, and kept with its verdict where it
 *       would be over HTTP.
 */
import * as moltbook from '@chimera/dialects/moltbook'
import * as openclaw from '@chimera/dialects/openclaw'
import { secretFinder } from '@chimera/dialects/outgoing'
import { patternOf } from '@chimera/dialects/topics'
import { isUuid, readUuid } from '@chimera/dialects/wire'
import { type Refused, refuse } from '@chimera/domain/decision'
import type { AgentId } from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'
import { type ReceivedMessage, readMessage } from '@chimera/identity/received'
import { ANYBODY, type Caller } from './act/caller.ts'
import type { Hub } from './act/hub.ts'
import { rotateKey } from './act/keys.ts'
import { observe } from './act/observations.ts'
import { announce, declare } from './act/presence.ts'
import { hearRelease } from './act/releases.ts'
import type { Topic } from './ports/bus.ts'
import type { Carried } from './ports/carrier.ts'
import type { Observation } from './views/observed.ts'

type Outcome = { readonly ok: true } | Refused<Refusal>

/** What is heard of agents by its name among the channels; not all of it is said again. */
type Subject = Topic | 'rotation' | 'release' | 'figures'

export type Intake = {
  readonly topic: Subject
  readonly pattern: string
  readonly take: (hub: Hub, message: Carried) => Promise<Outcome>
}

type Take = (
  hub: Hub,
  message: ReceivedMessage,
  carried: Carried,
) => Promise<Outcome> | Refused<Refusal>

const takePost: Take = (hub, message, { bytes }) => {
  const read = moltbook.readPresence(message)
  return read.ok ? announce(hub, { meaning: read.value, message, raw: textOf(bytes) }) : read
}

const takeDeclaration: Take = (hub, message, { bytes }) => {
  const read = moltbook.readCapability(message)
  return read.ok ? declare(hub, { meaning: read.value, message, raw: textOf(bytes) }) : read
}

const takeRotation: Take = async (hub, message) => {
  const read = moltbook.readKeyRotation(message)
  return read.ok ? rotateKey(hub, read.value.agent, { meaning: read.value, message }) : read
}

const takeRelease: Take = (hub, message) => {
  const read = moltbook.readRelease(message)
  return read.ok ? hearRelease(hub, { meaning: read.value, message }) : read
}

type Read = (
  value: unknown,
) => { readonly ok: true; readonly value: Observation } | Refused<Refusal>

function takeSaid(topic: Topic | 'figures', read: Read): Take {
  return (hub, message, { subject }) => {
    const unspoken = openclaw.refuseVersion(message)
    if (unspoken !== undefined) return unspoken
    const said = read(message)
    if (!said.ok) return said
    const speaker = speakerOf(subject)
    if (speaker === undefined || said.value.agent !== speaker) return refuse('caller_forbidden')
    return note(hub, { topic, said: said.value, message })
  }
}

type Note = {
  readonly topic: Topic | 'figures'
  readonly said: Observation
  readonly message: object
}

async function note(hub: Hub, { topic, said, message }: Note): Promise<Outcome> {
  const outcome = await observe(hub, callerFor(hub, said.agent), said)
  // Its own figures are nobody's but its own.
  if (outcome.ok && topic !== 'figures') hub.publish(topic, message)
  return outcome
}

/** The broker has seen to it that nobody else says anything there (I2). */
function callerFor(hub: Hub, agent: AgentId): Caller {
  if (hub.key === undefined) return ANYBODY
  return { open: false, operator: false, agent, scopes: ['agents'], session: false }
}

function speakerOf(subject: string): AgentId | undefined {
  const word = subject.split('.').at(-1) ?? ''
  return isUuid(word) ? readUuid<AgentId>(word) : undefined
}

function intake(topic: Subject, take: Take): Intake {
  return {
    topic,
    pattern: patternOf(topic),
    async take(hub, carried) {
      const received = readMessage(carried.bytes)
      if (!received.ok) return received
      // What could not be shown must not be kept, wherever it comes in.
      if (findSecrets(received.message).length > 0) return refuse('message_malformed')
      return take(hub, received.message, carried)
    },
  }
}

const findSecrets = secretFinder()

/** `held`: the broker lets agents speak under their own subjects only. */
export function intakes({ held }: { readonly held: boolean }): readonly Intake[] {
  const proven = [
    intake('presence', takePost),
    intake('capability', takeDeclaration),
    intake('rotation', takeRotation),
    intake('release', takeRelease),
  ]
  if (!held) return proven
  return [
    ...proven,
    intake('identity', takeSaid('identity', openclaw.readIdentity)),
    intake('status', takeSaid('status', openclaw.readStatusUpdate)),
    intake('figures', takeSaid('figures', openclaw.readReputationUpdate)),
  ]
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')
}
