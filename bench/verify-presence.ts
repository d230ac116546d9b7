/** Verifying a signed presence post from its bytes, against the bare signature check. */
import { randomBytes } from 'node:crypto'
import { announce, encodePresence } from '@chimera/dialects/moltbook'
import type { AgentId, CorrelationId, InstanceId } from '@chimera/domain/ids'
import { type Bulk, openBulk } from '@chimera/identity/bulk'
import { generateKeyPair } from '@chimera/identity/keys'
import { signMessage, takeApart } from '@chimera/identity/message'
// @ts-expect-error: the package ships no types.
import sodium from 'sodium-native'
import type { Benchmark } from './frame.ts'

const keys = generateKeyPair(randomBytes)
const announcement = announce(
  {
    agent: '550e8400-e29b-41d4-a716-446655440000' as AgentId,
    instance: '660e8400-e29b-41d4-a716-446655440001' as InstanceId,
    standing: {
      condition: { name: 'working', since: 0 },
      workload: { running: 5, awaiting: 0, slotsTotal: 8, slotsFree: 3 },
    },
    capabilities: ['trend_analysis', 'content_generation'],
    load: { cpu: 0.12, mem: 0.48 },
    correlation: '770e8400-e29b-41d4-a716-446655440002' as CorrelationId,
  },
  Date.UTC(2026, 1, 6, 16),
)
const post = signMessage(encodePresence(announcement), keys)
const bytes = Buffer.from(JSON.stringify(post))

const apart = takeApart(post)
if (!apart.ok) throw new Error('the post cannot be taken apart')
const { bytes: signedBytes, signature } = apart
const publicKey = Buffer.from(keys.publicKey, 'base64url')

let bulk: Bulk | undefined

export const benchmark: Benchmark = {
  name: 'verify-presence',
  method:
    `A presence post of ${bytes.length} bytes is read as JSON, taken apart, brought into ` +
    'canonical form and verified, from its bytes each time. The peer is ' +
    'crypto_sign_verify_detached of sodium-native over the canonical bytes that were signed.',
  open: async () => {
    bulk = await openBulk()
  },
  ours: {
    name: 'verify from bytes',
    run: async (times) => {
      for (let at = 0; at < times; at += 1) {
        const verdict = await bulk?.verifyMessageBytes(bytes, keys.publicKey)
        if (verdict?.ok !== true) throw new Error('the post was refused')
      }
    },
  },
  peer: {
    name: 'sodium, bare',
    run: (times) => {
      for (let at = 0; at < times; at += 1) {
        if (!sodium.crypto_sign_verify_detached(signature, signedBytes, publicKey)) {
          throw new Error('the signature was refused')
        }
      }
    },
  },
  target: { direction: 'at least', ratio: 0.6 },
}
