/**
 * Offers on their way to the hub. What comes in the same moment goes together, and what comes while
 * others are under way goes together after them: the hub looks at who asks once, verifies them as
 * one lot and decides them in one batch.
 *
 *   O1  Each offer has its own outcome. Where a message of many is not answered, nobody knows of
 *       any of them; the hub answers each offer in one way, however often it is shown.
 *   O2  A message that is too large for the hub is taken apart, and so is one that an older hub
 *       has no door for: then each offer goes alone.
 *   O3  What is not answered in an ack's time is given up, and what was given up before its turn
 *       is not sent. What the hub promises then lapses there by itself.
 */
import {
  encodeOfferBatch,
  encodePresented,
  type HeldSeen,
  type OfferOutcomeSeen,
  type PromiseSeen,
  readOfferOutcomes,
  readPromise,
} from '@chimera/dialects/chimera'
import type { Refused } from '@chimera/domain/decision'
import { LIMITS } from '@chimera/domain/limits'
import type { Refusal } from '@chimera/domain/refusals'
import type { Clock } from '@chimera/host/clock'
import type { HubAnswer, HubClient } from '../hub/client.ts'
import type { Network, Promised } from '../ports.ts'

export type PresentHands = {
  readonly hub: Pick<HubClient, 'post'>
  readonly clock: Pick<Clock, 'now'>
  readonly refusedBy: (answer: Exclude<HubAnswer, { ok: true }>) => Refused<Refusal>
  /** The hub has not said anything that could be understood. */
  readonly away: () => Refused<Refusal>
}

type Outcome = Promised | Refused<Refusal>
type Waiting = {
  readonly offer: object
  readonly signal: AbortSignal
  readonly tell: (outcome: Outcome) => void
}

// While one is being answered the next is filled; more would only make them smaller.
const AT_ONCE = 2
const NO_DOOR = 404

export function createPresenting(hands: PresentHands): Network['present'] {
  const { hub, clock, refusedBy, away } = hands
  let waiting: Waiting[] = []
  let underWay = 0
  let isDue = false
  let alone = false

  const terms = () => ({ repeatable: true, deadline: clock.now() + LIMITS.ackMs })

  /** In a turn of the event loop, so that all that comes in the same one goes together. */
  function go(): void {
    if (isDue) return
    isDue = true
    setImmediate(() => {
      isDue = false
      const [late, still] = [waiting.filter(isLate), waiting.filter((each) => !isLate(each))]
      waiting = still
      for (const { tell } of late) tell(away())
      while (underWay < AT_ONCE && waiting.length > 0) {
        const together = waiting.splice(0, LIMITS.offersAtOnce)
        underWay += 1
        void send(together).finally(() => {
          underWay -= 1
          go()
        })
      }
    })
  }

  async function send(together: readonly Waiting[]): Promise<void> {
    if (alone || together.length === 1) {
      await Promise.all(together.map(sendAlone))
      return
    }
    const body = encodeOfferBatch(together.map(({ offer }) => offer))
    const answer = await hub.post('/v1/offers', body, terms())
    if (!answer.ok && answer.kind === 'refused') {
      alone ||= answer.status === NO_DOOR
      if (alone || answer.refusal === 'message_oversized') {
        // O2.
        await Promise.all(together.map(sendAlone))
        return
      }
    }
    const outcomes = answer.ok ? outcomesIn(answer.body, together.length) : undefined
    const unknown = answer.ok ? away() : refusedBy(answer)
    for (const [at, { tell }] of together.entries()) {
      const outcome = outcomes?.[at]
      tell(outcome?.ok ? promisedBy(outcome) : (outcome ?? unknown))
    }
  }

  async function sendAlone({ offer, tell }: Waiting): Promise<void> {
    const answer = await hub.post('/v1/holds', encodePresented(offer), terms())
    if (!answer.ok) {
      tell(refusedBy(answer))
      return
    }
    const promised = readPromise(answer.body)
    tell(promised.ok && promised.value ? promisedBy(promised.value) : away())
  }

  return (offer, signal) =>
    new Promise((tell) => {
      waiting.push({ offer, signal, tell })
      go()
    })
}

const isLate = ({ signal }: Waiting): boolean => signal.aborted

const promisedBy = ({ reservation, lapsesAt, held }: PromiseSeen): Promised => ({
  ok: true,
  reservation,
  lapsesAt,
  ...(held && { hold: held.id, held: heldBy(held) }),
})

export const heldBy = ({ id, payer, hirer, coversCents, task }: HeldSeen) => ({
  hold: id,
  payer,
  task,
  heldCents: coversCents,
  ...(hirer !== undefined && { hirer }),
})

function outcomesIn(body: unknown, count: number): readonly OfferOutcomeSeen[] | undefined {
  const read = readOfferOutcomes(body)
  return read.ok && read.value.length === count ? read.value : undefined
}
