/**
 * What work tells over the bus: the results and the final answers of what was asked for there, and
 * that unused promises are given back.
 *
 *   N1  A result that a stream keeps is told: the hubs take it in, also when none is there now
 *       (decision 0044), and its requester hears it. Without the broker the hub is told over HTTP.
 *   N2  Both ways may happen where an answer is lost, and count once: a result has one name.
 */
import { encodeRelease } from '@chimera/dialects/moltbook'
import { KEPT_SUBJECTS, placeOf, releaseSubject, subjectBetween } from '@chimera/dialects/topics'
import { refuse } from '@chimera/domain/decision'
import type { CorrelationId, MessageId } from '@chimera/domain/ids'
import type { Chance } from '@chimera/host/chance'
import type { Clock } from '@chimera/host/clock'
import { canonicalDigest } from '@chimera/identity/canonical'
import { signMessage } from '@chimera/identity/message'
import type { Network, Self } from '../ports.ts'
import type { Line } from './line.ts'
import type { BusNeeds } from './port.ts'

const DAY_MS = 24 * 60 * 60 * 1_000

/** As the hubs make it; only its name, its subjects and its memory for ids are of use here. */
export const KEPT_STREAMS: BusNeeds['streams'] = [
  {
    name: 'chimera-kept',
    subjects: KEPT_SUBJECTS,
    keepMs: 7 * DAY_MS,
    keepMessages: 1_000_000,
    keepBytes: 1024 ** 3,
    dedupeMs: 2 * 60 * 1_000,
  },
]

export type BusNetworkHands = {
  readonly line: Pick<Line, 'bus'>
  readonly self: Self
  readonly clock: Clock
  readonly chance: Pick<Chance, 'uuid'>
}

// A broker that is there says so in milliseconds; then the other way is taken.
const STORING_MS = 5_000
const RETRY_MS = 2_000

export function withBus(network: Network, hands: BusNetworkHands): Network {
  const { line, self, clock, chance } = hands

  /**
   * Whether a stream keeps it now. Its id is of what is signed: one that others could know before
   * would let them put something else in its place.
   */
  async function store(subject: string, message: object): Promise<boolean> {
    const bus = line.bus()
    if (bus === undefined) return false
    const bytes = Buffer.from(JSON.stringify(message))
    const id = canonicalDigest(message) as string as MessageId
    let timer: { readonly cancel: () => void } | undefined
    const late = new Promise<boolean>((resolve) => {
      timer = clock.after(STORING_MS, () => resolve(false))
    })
    const stored = bus.store({ subject, bytes, headers: { id } }).then(
      () => true,
      () => false,
    )
    const kept = await Promise.race([stored, late])
    timer?.cancel()
    return kept
  }

  return {
    ...network,
    async report(result, asked = {}) {
      const place = asked.bus ? placeOf('result', result) : undefined
      if (place !== undefined) {
        if (await store(place.subject, result)) return { ok: true }
      }
      return network.report(result)
    },
    async respond(response, to) {
      const subject = subjectBetween('response', self.agent, to)
      const kept = await store(subject, response)
      if (kept) return { ok: true }
      return refuse('service_unavailable', { retryAt: clock.now() + RETRY_MS })
    },
    async release(id, promised) {
      const bus = line.bus()
      if (promised === undefined || bus === undefined) return network.release(id)
      const { planner, task } = promised
      const notice = encodeRelease({
        type: 'release_reservation',
        reservation: promised.id,
        instance: self.instance,
        planner,
        task,
        by: 'instance',
        correlation: chance.uuid() as CorrelationId,
        signedAt: clock.now(),
      })
      // OC-15: the planner hears it as well as the hubs; if it is lost the promise lapses.
      const bytes = Buffer.from(JSON.stringify(signMessage(notice, self.key())))
      bus.publish({ subject: releaseSubject(self.instance, planner), bytes })
      return { ok: true }
    },
  }
}
