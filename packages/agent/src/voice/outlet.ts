/**
 * Where an agent says things of itself: at its hub over HTTP here, or on a bus that is passed in.
 * The same JSON either way (OC-23).
 *
 *   O1  What came of it is a value: taken, refused, or no answer.
 *   O2  A voice has a plan of its own for trying again, so each saying is one try.
 */
import { placeOf } from '@chimera/dialects/topics'
import type { CorrelationId } from '@chimera/domain/ids'
import type { PublishOutcome } from '@chimera/domain/voice/publishing'
import type { HubAnswer, HubClient } from '../hub/client.ts'

export type Topic = 'identity' | 'capability' | 'presence' | 'status'

export type Told = {
  readonly outcome: PublishOutcome
  /** What was answered where that was not a yes, for the log. */
  readonly why?: string
}

export type Outlet = {
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

/** What is needed of a bus; that of @chimera/bus fits. */
export type BusPort = {
  readonly publish: (message: {
    readonly subject: string
    readonly bytes: Uint8Array
    readonly headers?: { readonly correlation?: CorrelationId }
  }) => unknown
  readonly state: () => { readonly type: string }
}

/**
 * On a bus nobody answers: what the broker took is said. While the broker is away nothing is handed
 * to it, for a post that waits there would be old when it is heard.
 */
export function createBusOutlet(bus: BusPort): Outlet {
  return {
    say: async (topic, message) => {
      if (bus.state().type !== 'connected') {
        return { outcome: { type: 'unanswered' }, why: 'the broker is away' }
      }
      const { subject, correlation } = placeOf(topic, message) ?? {}
      if (subject === undefined) throw new Error(`a message has no place: ${topic}`)
      const bytes = Buffer.from(JSON.stringify(message))
      bus.publish({ subject, bytes, ...(correlation && { headers: { correlation } }) })
      return { outcome: { type: 'answered', status: 202 } }
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
