/** Signed presence posts of the agents of a benchmark, as bytes. */
import { randomUUID } from 'node:crypto'
import { announce, encodePresence } from '@chimera/dialects/moltbook'
import type { CorrelationId, Instant } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import { signMessage } from '@chimera/identity/message'
import type { BenchAgent } from './agents.ts'

/** Of an agent with room, which has no two posts of one moment. */
export function signPost({ id, instance, skill, key }: BenchAgent, signedAt: Instant): Buffer {
  const announcement = announce(
    {
      agent: id,
      instance,
      standing: {
        condition: { name: 'working', since: 0 },
        workload: { running: 5, awaiting: 0, slotsTotal: 8, slotsFree: 3 },
      },
      capabilities: [skill],
      load: { cpu: Math.round(Math.random() * 100) / 100, mem: 0.48 },
      correlation: randomUUID() as string as CorrelationId,
    },
    signedAt,
  )
  // As long as a post may live: a busy machine takes its time to sign the others.
  const expiresAt = signedAt + LIMITS.presenceTtlMs
  const message = encodePresence({ ...announcement, expiresAt })
  return Buffer.from(JSON.stringify(signMessage(message, key)))
}
