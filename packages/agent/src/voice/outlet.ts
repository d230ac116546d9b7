/**
 * Where an agent says things of itself: at its hub over HTTP here, or on a bus that is passed in.
 * The same JSON either way (OC-23).
 *
 *   O1  What came of it is a value: taken, refused, or no answer.
 *   O2  A voice has a plan of its own for trying again, so each saying is one try.
 */
import { placeOf } from '@chimera/dialects/topics'
import type { PublishOutcome } from '@chimera/domain/voice/publishing'
import type { Line } from '../bus/line.ts'
import type { BusPort } from '../bus/port.ts'
import type { HubAnswer, HubClient } from '../hub/client.ts'

export type Topic = 'identity' | 'capability' | 'presence' | 'status'

export type Told = {
  readonly outcome: PublishOutcome
  /** What was answered where that was not a yes, for the log. */
  readonly why?: string
}

export type Outlet = {
  /** Called once, when the agent is registered and before anything is said. */
  readonly open?: () => Promise<void>
  readonly say: (topic: Topic, message: object, signal: AbortSignal) => Promise<Told>
}

const DOORS: Readonly<Record<Topic, string>> = {
  identity: '/openclaw/v1/identities',
  capability: '/moltbook/v1/capability',
  presence: '/moltbook/v1/presence',
  status: '/openclaw/v1/status',
}

/** Half of a cadence of presence: who has not answered by then is asked again. */
export const SAYING_MS = 5_000

export function createHubOutlet(hub: Pick<HubClient, 'post'>): Outlet {
  return {
    say: async (topic, message, signal) => {
      const terms = { tries: 1, timeoutMs: SAYING_MS, signal }
      return toldBy(await hub.post(DOORS[topic], message, terms))
    },
  }
}

export type BusOutletHands = {
  readonly line: Pick<Line, 'open' | 'bus'>
  /** What the broker cannot take, or nobody would answer there. */
  readonly hub: Outlet
  /** Whether the hubs believe what is unsigned on the bus: they are open, or the broker is held. */
  readonly believed: () => Promise<boolean>
}

const SIGNED: readonly Topic[] = ['presence', 'capability']
const REPEATED: readonly Topic[] = ['presence', 'status']
// Five minutes at ten seconds each.
const ASKED_EACH = 30
const UNANSWERED: Told = { outcome: { type: 'unanswered' } }

/**
 * On a bus nobody answers, so it is for what is repeated: what the broker took is said, and what is
 * lost is said again.
 *
 *   B1  Presence goes on the bus, and the status where the hubs believe it there. While the broker
 *       is away both go to the hub, which says them on the bus when it can; nothing is handed to a
 *       broker that is away, for a post that waits there would be old when it is heard.
 *   B2  What is said once goes to the hub, which answers, and says it under its topic as it came.
 *       Where the hub does not answer it is said on the bus too, and told again later.
 *   B3  Now and then a post goes to the hub instead: a hub that does not know the agent any more,
 *       or not by this key, can say so only there.
 */
export function createBusOutlet({ line, hub, believed }: BusOutletHands): Outlet {
  let posts = 0

  async function canSay(topic: Topic): Promise<BusPort | undefined> {
    const bus = line.bus()
    if (bus === undefined || SIGNED.includes(topic) || bus.held) return bus
    return (await believed()) ? bus : undefined
  }

  function publish(bus: BusPort, topic: Topic, message: object): void {
    const { subject, correlation } = placeOf(topic, message) ?? {}
    if (subject === undefined) throw new Error(`a message has no place: ${topic}`)
    const bytes = Buffer.from(JSON.stringify(message))
    bus.publish({ subject, bytes, ...(correlation && { headers: { correlation } }) })
  }

  return {
    open: line.open,
    say: async (topic, message, signal) => {
      const bus = await canSay(topic)
      if (bus === undefined) return hub.say(topic, message, signal)
      const repeated = REPEATED.includes(topic)
      if (topic === 'presence') posts += 1
      const asks = !repeated || (topic === 'presence' && posts % ASKED_EACH === 0)
      const told = asks ? await hub.say(topic, message, signal) : UNANSWERED
      if (told.outcome.type === 'answered') return told
      publish(bus, topic, message)
      return repeated ? { outcome: { type: 'answered', status: 202 } } : told
    },
  }
}

export function toldBy(answer: HubAnswer): Told {
  if (answer.ok) return { outcome: { type: 'answered', status: answer.status } }
  if (answer.kind === 'refused') {
    const { status, code, sentence } = answer
    return { outcome: { type: 'answered', status }, why: `${code}: ${sentence}` }
  }
  return { outcome: { type: 'unanswered' }, why: `${answer.code}: ${answer.detail}` }
}
