/**
 * A hirer's way to agents over the bus, in front of the one over HTTP: for who hires as an agent.
 *
 *   G1  The same ask either way, under the same key: what got no answer here is asked for over
 *       HTTP, and is one piece of work (OC-12).
 *   G2  An answer counts if the agent has signed it. Whoever else answers is passed over.
 *   G3  A result is heard as soon as it is said; whether it is believed, the caller decides.
 */
import { reserveQueue } from '@chimera/dialects/moltbook'
import * as openclaw from '@chimera/dialects/openclaw'
import { patternOf, subjectBetween } from '@chimera/dialects/topics'
import type { AgentId, TaskId } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import type { WorkAsked } from '@chimera/domain/work/work'
import type { Clock } from '@chimera/host/clock'
import type { KeyPair } from '@chimera/identity/keys'
import { signMessage } from '@chimera/identity/message'
import { type ReceivedMessage, readMessage } from '@chimera/identity/received'
import { type Door, type Limits, type Looked, type Place, readLooked } from '../hire/door.ts'
import type { BusMessage, BusPort } from './port.ts'

/** That of @chimera/bus fits. */
export type HirersBus = Pick<BusPort, 'subscribe' | 'state'> & {
  readonly request: (
    message: BusMessage,
    options: { readonly timeoutMs: number; readonly signal?: AbortSignal },
  ) => Promise<{ readonly bytes: Uint8Array }>
}

export type HiringHands = {
  readonly bus: HirersBus
  readonly agent: AgentId
  readonly key: () => KeyPair
  /** Whether the agent has signed it, by the keys that the hub has told. */
  readonly isSigned: (agent: AgentId, message: object) => Promise<boolean>
  readonly clock: Clock
}

// Results that nobody has looked for yet; the hub has them all.
const MOST_RESULTS = 1_000
// How long a look waits for the bus where HTTP says nothing.
const LOOK_MS = 5_000

export function doorOnBus(door: Door, hands: HiringHands): Door {
  const { bus, agent: self, key, clock } = hands
  const results = new Map<string, ReceivedMessage>()
  const waiting = new Map<string, Set<() => void>>()
  const hearing = bus.subscribe(patternOf('result').replace(/\*$/, self))
  void listen()

  async function listen(): Promise<void> {
    try {
      for await (const { bytes } of hearing) {
        const read = readMessage(bytes)
        if (read.ok) note(read.message)
      }
    } catch {
      // Who is not told here looks over HTTP, and at the hub.
    }
  }

  function note(message: ReceivedMessage): void {
    const task = String(message.request_id).toLowerCase()
    results.delete(task)
    results.set(task, message)
    const oldest = results.keys().next()
    if (results.size > MOST_RESULTS && !oldest.done) results.delete(oldest.value)
    for (const hear of waiting.get(task) ?? []) hear()
  }

  const heard = (place: Place, task: TaskId): Looked | undefined => {
    const body = results.get(task)
    const looked = body && readLooked({ ok: true, status: 200, body }, place)
    return looked?.kind === 'ended' ? looked : undefined
  }

  /** Resolves when a result is heard, when the time is over, or with the signal. */
  function hears(task: TaskId, ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const hearers = waiting.get(task) ?? new Set()
      waiting.set(task, hearers)
      const end = (): void => {
        timer.cancel()
        signal?.removeEventListener('abort', end)
        hearers.delete(end)
        if (hearers.size === 0) waiting.delete(task)
        resolve()
      }
      const timer = clock.after(ms, end)
      hearers.add(end)
      if (signal?.aborted || results.has(task)) end()
      else signal?.addEventListener('abort', end, { once: true })
    })
  }

  /** What the agent itself answered; undefined where that did not come (G2). */
  async function answerOf(
    agent: AgentId,
    subject: string,
    message: object,
    { timeoutMs, signal }: Limits,
  ): Promise<ReceivedMessage | undefined> {
    if (bus.state().type !== 'connected') return undefined
    const bytes = Buffer.from(JSON.stringify(message))
    const limits = { timeoutMs: Math.min(timeoutMs, LIMITS.responseMs), ...(signal && { signal }) }
    const answer = await bus.request({ subject, bytes }, limits).catch(() => undefined)
    const read = answer && readMessage(answer.bytes)
    return read?.ok && (await hands.isSigned(agent, read.message)) ? read.message : undefined
  }

  async function ask(
    name: 'request' | 'cancel',
    place: Place,
    message: object,
    limits: Limits,
  ): Promise<Looked | undefined> {
    if (place.byJobs) return undefined
    const subject = subjectBetween(name, self, place.id)
    const body = await answerOf(place.id, subject, signMessage(message, key()), limits)
    const looked = body && readLooked({ ok: true, status: 200, body }, place)
    return looked?.kind === 'silent' ? undefined : looked
  }

  const requestOf = (asked: WorkAsked): object =>
    openclaw.encodeRequest({ ...asked, sentAt: clock.now() }, clock.now())
  const cancelOf = ({ task, correlation }: WorkAsked): object =>
    openclaw.encodeCancel({ task, requester: self, correlation }, clock.now())

  return {
    ...door,
    async ask(place, asked, limits) {
      const looked = await ask('request', place, requestOf(asked), limits)
      if (looked === undefined || looked.kind === 'ended') return door.ask(place, asked, limits)
      return looked
    },
    async look(place, asked, limits) {
      const { task } = asked
      const early = heard(place, task)
      if (early !== undefined) return early
      const enough = new AbortController()
      const both = limits.signal ? AbortSignal.any([limits.signal, enough.signal]) : enough.signal
      const overHttp = door.look(place, asked, { ...limits, signal: both })
      await Promise.race([overHttp, hears(task, limits.timeoutMs, both)])
      const said = heard(place, task)
      enough.abort()
      const looked = said ?? (await overHttp)
      if (said !== undefined || looked.kind !== 'silent') return looked
      await hears(task, Math.min(LOOK_MS, limits.timeoutMs), limits.signal)
      return heard(place, task) ?? looked
    },
    async offer(to, message, limits) {
      const body = await answerOf(to.agent, reserveQueue(to.instance), message, limits)
      return body === undefined ? door.offer(to, message, limits) : { ok: true, status: 200, body }
    },
    async cancel(place, asked, limits) {
      const looked = await ask('cancel', place, cancelOf(asked), limits)
      return looked ?? door.cancel(place, asked, limits)
    },
    async close() {
      hearing.close()
      await door.close()
    },
  }
}
