/**
 * Asks instances directly, every five minutes, whether they can be reached (AV-6).
 *
 *   A1  Asked is `GET /health` where the instance takes offers, or else where its agent takes jobs;
 *       then, if nothing came, `HEAD` of the address itself. Any answer will do, a redirect too,
 *       which is not followed. So one lost packet hides nobody, and nothing is set off.
 *   A2  Everything goes through the guarded client. What it may not dial is not probed.
 *   A3  So many at once, each for so long; what is due later waits for the next wave.
 */
import type { Instant } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import type { Probe, ProbeResult } from '@chimera/domain/presence/probe'
import type { GuardedRequest, Outcome } from '@chimera/host/guarded/client'
import type { Metrics } from '@chimera/host/metrics'
import type { Hub } from './act/hub.ts'
import type { Due } from './views/probes.ts'
import { repeat, type WatchHands } from './watch.ts'

export type ProbeHands = WatchHands & { readonly metrics: Metrics }

// Enough for any page that says how somebody is; a larger one is an answer all the same.
const MOST_BYTES = 16 * 1024

const QUICK: NonNullable<GuardedRequest['limits']> = {
  headersMs: LIMITS.probeAnswerMs,
  totalMs: LIMITS.probeAnswerMs,
  bodyBytes: MOST_BYTES,
  redirects: 0,
}

export function keepProbing(hub: Hub, hands: ProbeHands): void {
  const { log, stop, metrics } = hands
  const counted = metrics.counter({
    name: 'presence_probes_total',
    help: 'Direct probes of instances, by what came of them',
    labels: ['result'],
  })
  let cutOff = false

  async function wave(): Promise<number> {
    const ended = await probeAll(hub, hub.directory.dueProbes(hub.now()), hands)
    const facts = hub.directory.noteProbes(ended, hub.now())
    for (const { result } of ended) counted.add({ result })
    const disregarded = facts.flatMap((fact) =>
      fact.type === 'probes_disregarded' ? fact.addresses : [],
    ).length
    if (disregarded > 0) counted.add({ result: 'disregarded' }, disregarded)
    if (ended.length > 0) log.debug({ probes: ended.length, disregarded }, 'probed')
    if (disregarded > 0 && !cutOff)
      log.warn({ disregarded }, 'nobody answers: is this hub cut off?')
    if (ended.length > 0) cutOff = disregarded > 0
    return LIMITS.probeWaveMs
  }

  const probing = repeat(hands, 'instances could not be probed', wave, LIMITS.probeWaveMs)
  stop.register({ name: 'probes', close: () => probing })
}

/** One after another in so many lanes. */
async function probeAll(
  hub: Hub,
  due: readonly Due[],
  { log, stop }: ProbeHands,
): Promise<readonly Probe[]> {
  const waiting = [...due]
  const ended: Probe[] = []
  const lane = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      if (stop.stopping.aborted) return
      const sentAt: Instant = hub.now()
      const { result, code } = await ask(hub, next, stop.stopping)
      ended.push({ address: next.place, sentAt, result })
      log.debug({ place: next.place, result, ...(code && { code }) }, 'probe')
    }
  }
  await Promise.all(Array.from({ length: LIMITS.probesAtOnce }, lane))
  return ended
}

type Asked = { readonly result: ProbeResult; readonly code?: string }

async function ask({ dial }: Hub, { place, address }: Due, signal: AbortSignal): Promise<Asked> {
  const common = { signal, limits: QUICK }
  const first = judge(await dial.request({ ...common, url: `${place}/health` }))
  if (first.result !== 'unanswered') return first
  return judge(await dial.request({ ...common, url: address, method: 'HEAD' }))
}

function judge(outcome: Outcome): Asked {
  if (outcome.ok) return { result: 'answered' }
  const { code } = outcome.failure
  switch (code) {
    case 'too_many_redirects':
    case 'too_large':
      return { result: 'answered', code }
    case 'refused_address':
    case 'cancelled':
      return { result: 'skipped', code }
    case 'timeout':
    case 'network':
    case 'tls':
      return { result: 'unanswered', code }
  }
}
