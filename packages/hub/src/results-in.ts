/**
 * Results that agents say on the bus (OC-17, OC-23), taken in as over HTTP.
 *
 *   T1  A stream keeps them, and hands each to one of the hubs until one has dealt with it: none is
 *       lost while hubs are away, and one that comes again finds itself recorded.
 *   T2  A result moves money, so it is believed for its signature alone, wherever it was said
 *       (CH-15). Of a key that was changed since, what the broker took before holds (P-15).
 *   T3  What cannot be judged now comes again; what is refused is counted, and does not.
 */
import * as openclaw from '@chimera/dialects/openclaw'
import { secretFinder } from '@chimera/dialects/outgoing'
import { patternOf } from '@chimera/dialects/topics'
import type { Agent } from '@chimera/domain/agent/agent'
import { keyAt, presentKey } from '@chimera/domain/agent/keys'
import { type Refused, refuse } from '@chimera/domain/decision'
import type { AgentId, Instant } from '@chimera/domain/ids'
import { isRetryable, type Refusal } from '@chimera/domain/refusals'
import type { EndReported } from '@chimera/domain/work/result'
import { readMessage } from '@chimera/identity/received'
import { ANYBODY, type Caller } from './act/caller.ts'
import type { Hub } from './act/hub.ts'
import { recordResult } from './act/results.ts'
import type { Carrier, Handed } from './ports/carrier.ts'
import { MARK } from './saying.ts'
import type { WatchHands } from './watch.ts'

export type ResultHands = WatchHands & {
  readonly carrier: Carrier
  readonly refused: { readonly add: (labels: { topic: string; reason: string }) => void }
}

const GROUP = 'hubs'
// Each is some questions to the database, which answers a batch as fast as one.
const AT_ONCE = 64
// A database that is away is back in seconds, or in minutes.
const AGAIN_MS = 5_000

type Outcome = { readonly ok: true } | Refused<Refusal>

export async function keepTakingResults(hub: Hub, hands: ResultHands): Promise<void> {
  const { carrier, refused, clock, log, stop } = hands
  const signal = stop.stopping

  async function deal({ message: carried, at, done, again }: Handed): Promise<void> {
    if (carried.headers.id?.startsWith(MARK)) return done()
    try {
      const outcome = await takeResult(hub, carried, at)
      if (!outcome.ok && isRetryable(outcome.refusal)) return again(AGAIN_MS)
      done()
      if (outcome.ok) hub.live.nudge()
      else refused.add({ topic: 'result', reason: outcome.refusal })
    } catch (error) {
      log.debug({ err: error }, 'a result of the bus could not be taken in now')
      again(AGAIN_MS)
    }
  }

  while (!signal.aborted) {
    const dealing = new Set<Promise<void>>()
    try {
      for await (const handed of carrier.handOut({ group: GROUP, pattern: PATTERN, signal })) {
        const dealt = deal(handed)
        dealing.add(dealt)
        void dealt.finally(() => dealing.delete(dealt))
        if (dealing.size >= AT_ONCE) await Promise.race(dealing)
      }
    } catch (error) {
      log.warn({ err: error }, 'results on the bus are not handed out')
      await clock.sleep(AGAIN_MS, signal).catch(() => undefined)
    }
    await Promise.all(dealing)
  }
}

const PATTERN = patternOf('result')
const findSecrets = secretFinder()

async function takeResult(
  hub: Hub,
  { subject, bytes }: Handed['message'],
  at: Instant,
): Promise<Outcome> {
  const received = readMessage(bytes)
  if (!received.ok) return received
  const { message } = received
  // What could not be shown must not be kept, wherever it comes in.
  if (findSecrets(message).length > 0) return refuse('message_malformed')
  const unspoken = openclaw.refuseVersion(message)
  if (unspoken !== undefined) return unspoken
  const said = openclaw.readResult(message)
  if (!said.ok) return said
  if (!isOwn(subject, said.value)) return refuse('caller_forbidden')
  const caller =
    hub.key === undefined ? ANYBODY : await prove(hub, { said: said.value, message, at })
  if ('ok' in caller) return caller
  const outcome = await recordResult(hub, caller, said.value)
  if (outcome.ok) hub.publish('result', message)
  return outcome
}

/** Said by the agent that did the work, to the one that it names if it names one. */
function isOwn(subject: string, { agent, requester }: EndReported): boolean {
  const [to, by] = subject.split('.').reverse()
  return by === agent && (requester === undefined || to === requester)
}

type Said = {
  readonly said: EndReported
  readonly message: object
  readonly at: Instant
}

async function prove(hub: Hub, { said, message, at }: Said): Promise<Caller | Refused<Refusal>> {
  // From the store, since another hub may have changed its key a moment ago.
  const agent = await hub.keep.agents.load(said.agent)
  if (agent === undefined || agent.removedAt !== undefined) return refuse('agent_unknown')
  for (const { publicKey } of keysOf(agent, at)) {
    const proof = await hub.verify(message, publicKey)
    if (proof.ok) return callerFor(agent.id)
  }
  return refuse('signature_invalid')
}

/** T2. Clocks differ, so the present key is tried for what was said a moment before its time. */
function keysOf({ keys }: Agent, at: Instant) {
  const [present, then] = [presentKey(keys), keyAt(keys, at)]
  return [present, then === present ? undefined : then].filter((each) => each !== undefined)
}

const callerFor = (agent: AgentId): Caller => ({
  open: false,
  operator: false,
  agent,
  scopes: ['agents'],
  session: false,
})
