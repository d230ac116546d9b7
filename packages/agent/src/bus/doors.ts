/**
 * The agent's doors on the bus (OC-23, AV-8): what comes over HTTP elsewhere comes here under the
 * agent's own subjects. Every door is read, prove, act, answer.
 *
 *   D1  A sender that waits is answered, also with what was wrong. Who asks and does not wait hears
 *       the answer where final answers are said.
 *   D2  A request goes to one instance of the agent, an offer to the one that it names. What
 *       cancels work is heard by all, since only one of them may have it.
 *   D3  What is refused is counted, by its topic and reason.
 */
import * as moltbook from '@chimera/dialects/moltbook'
import * as openclaw from '@chimera/dialects/openclaw'
import { controlSubject, releaseSubject, speakerIn, subjectBetween } from '@chimera/dialects/topics'
import { isUuid, readUuid } from '@chimera/dialects/wire'
import { type Refused, refuse } from '@chimera/domain/decision'
import type { AgentId, CorrelationId } from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'
import type { Reservation } from '@chimera/domain/work/capacity'
import type { Clock } from '@chimera/host/clock'
import type { Metrics } from '@chimera/host/metrics'
import { signMessage } from '@chimera/identity/message'
import { type ReceivedMessage, readMessage } from '@chimera/identity/received'
import type { Network, Self } from '../ports.ts'
import { askInTime } from '../serve/doors.ts'
import type { Orders } from '../voice/orders.ts'
import { isConcerned } from '../work/requester.ts'
import type { Reserving } from '../work/reserving.ts'
import { signedResult } from '../work/signed.ts'
import type { Workshop } from '../work/workshop.ts'
import type { Line, Listening } from './line.ts'
import type { BusHeard } from './port.ts'
import { createProof } from './proof.ts'

export type BusDoorsHands = {
  readonly line: Pick<Line, 'hear'>
  readonly self: Self
  readonly network: Network
  readonly workshop: Pick<Workshop, 'ask' | 'byTask' | 'find' | 'cancel'>
  readonly reserving: Pick<Reserving, 'offer'>
  /** A planner no longer needs what was promised to it. */
  readonly released: (reservation: Pick<Reservation, 'id' | 'planner'>) => void
  readonly clock: Clock
  readonly metrics: Metrics
}

type Outcome = { readonly ok: true; readonly said?: object } | Refused<Refusal>

// As many asks as wait at the desk, and then some; each as large as HTTP takes.
const PENDING = { pendingMessages: 1_000, pendingBytes: 32 * 1024 * 1024 }
// Whoever knows nothing of some work lets those speak first who do.
const UNKNOWN_MS = 1_000

export function openBusDoors(hands: BusDoorsHands): void {
  const { line, self, network, workshop, reserving, clock } = hands
  const { agent, instance } = self
  const prove = createProof(network, clock.now)
  const refusals = hands.metrics.counter({
    name: 'agent_bus_messages_refused_total',
    help: 'Messages on the bus that the agent did not act upon, by topic and reason',
    labels: ['topic', 'reason'],
  })

  function listen(
    topic: string,
    where: Pick<Listening, 'pattern' | 'queue'>,
    take: (message: ReceivedMessage, heard: BusHeard) => Promise<Outcome>,
    answer: (refused: Refused<Refusal>, message?: ReceivedMessage) => object,
  ): void {
    async function deal(heard: BusHeard): Promise<void> {
      const received = readMessage(heard.bytes)
      const outcome = received.ok ? await take(received.message, heard) : received
      if (!outcome.ok) refusals.add({ topic, reason: outcome.refusal })
      const said = outcome.ok
        ? outcome.said
        : answer(outcome, received.ok ? received.message : undefined)
      if (said !== undefined) heard.reply?.(Buffer.from(JSON.stringify(said)))
    }
    line.hear({ ...PENDING, ...where, topic, deal })
  }

  const sign = (message: object): object => signMessage(message, self.key())
  const errorOf = (refused: Refused<Refusal>, message?: ReceivedMessage): object =>
    openclaw.encodeRefusal(refused, clock.now(), correlationIn(message)).body

  async function takeRequest(message: ReceivedMessage, heard: BusHeard): Promise<Outcome> {
    const unspoken = openclaw.refuseVersion(message)
    if (unspoken !== undefined) return unspoken
    const read = openclaw.readRequest(message)
    if (!read.ok) return read
    const asked = read.value
    const by = speakerIn(heard.subject)
    if (by === undefined || asked.claimedRequester !== by) return refuse('caller_forbidden')
    const proven = await prove(message, { by, signedAt: asked.sentAt ?? 0 })
    if (!proven.ok) return proven
    const taken = await askInTime(hands, {
      door: 'openclaw',
      asked,
      signer: proven.key,
      bus: true,
    })
    const to = { task: asked.task, agent, correlation: asked.correlation }
    const { body } = taken.ok
      ? openclaw.encodeProgress(taken.kept.work, to, clock.now())
      : openclaw.encodeRefused(taken, to, clock.now())
    const said = sign(body)
    if (!taken.ok) refusals.add({ topic: 'request', reason: taken.refusal })
    if (heard.reply === undefined) await network.respond?.(said, by)
    return { ok: true, said }
  }

  async function takeCancel(message: ReceivedMessage, { subject }: BusHeard): Promise<Outcome> {
    const unspoken = openclaw.refuseVersion(message)
    if (unspoken !== undefined) return unspoken
    const read = openclaw.readCancel(message)
    if (!read.ok) return read
    const { requester: by, task, sentAt } = read.value
    if (speakerIn(subject) !== by) return refuse('caller_forbidden')
    const proven = await prove(message, { by, signedAt: sentAt })
    if (!proven.ok) return proven
    const kept = await workshop.byTask(task, by)
    const isTheirs = kept?.requester.agent === by && (await isConcerned(network, kept, proven.key))
    if (kept === undefined || !isTheirs) {
      await clock.sleep(UNKNOWN_MS)
      return refuse('work_unknown')
    }
    const cancelled = await workshop.cancel(kept)
    // D2: another instance has it, and answers.
    if (!cancelled.ok && cancelled.refusal === 'work_not_begun') return { ok: true }
    if (!cancelled.ok) return cancelled
    const said = signedResult(self, (await workshop.find(kept.work.ask.work)) ?? kept)?.message
    return { ok: true, ...(said && { said }) }
  }

  async function takeOffer(message: ReceivedMessage, { reply }: BusHeard): Promise<Outcome> {
    // Nobody would hear of the promise, which would only keep others out.
    if (reply === undefined) return refuse('message_malformed')
    const acked = await reserving.offer(message)
    return acked.ok ? { ok: true, said: acked.ack } : acked
  }

  async function takeRelease(message: ReceivedMessage): Promise<Outcome> {
    const read = moltbook.readRelease(message)
    if (!read.ok) return read
    const { by, planner, reservation, signedAt, instance: at } = read.value
    // Our own word comes back to us, and is no news.
    if (by === 'instance' || at !== instance) return { ok: true }
    const proven = await prove(message, { by: planner, signedAt })
    if (!proven.ok) return proven
    hands.released({ id: reservation, planner })
    return { ok: true }
  }

  const declined = (refused: Refused<Refusal>): object =>
    moltbook.encodeRefusal(refused, clock.now()).body
  const request = { pattern: subjectBetween('request', '*', agent), queue: agent }
  listen('request', request, takeRequest, errorOf)
  listen('cancel', { pattern: subjectBetween('cancel', '*', agent) }, takeCancel, errorOf)
  listen('reserve', { pattern: moltbook.reserveQueue(instance) }, takeOffer, declined)
  listen('release', { pattern: releaseSubject(instance, '*') }, takeRelease, declined)
}

/**
 * Orders are also asked for, so one that is lost here comes later. Its own are acknowledged at
 * once; of those to everybody the hub hears with the next question, and not from all in one moment.
 */
export function hearOrders(
  line: Pick<Line, 'hear'>,
  agent: AgentId,
  orders: Pick<Orders, 'hear' | 'ask'>,
): void {
  for (const to of [agent, 'all'] as const) {
    line.hear({
      topic: 'control',
      pattern: controlSubject(to),
      deal: async ({ bytes }) => {
        const received = readMessage(bytes)
        if (!received.ok) return
        if (orders.hear(received.message) === 'obeyed' && to === agent) await orders.ask()
      },
    })
  }
}

/** Also of a message that is refused, so that its sender knows which one (OC-22). */
function correlationIn(message: ReceivedMessage | undefined): CorrelationId | undefined {
  const id = message?.correlation_id
  return typeof id === 'string' && isUuid(id) ? readUuid<CorrelationId>(id) : undefined
}
