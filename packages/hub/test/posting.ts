/** Agents as a test needs them: registered over Chorus, with a key, posting presence. */
import { randomUUID } from 'node:crypto'
import { encodeCapability, encodePresence } from '@chimera/dialects/moltbook'
import type { AgentId, CorrelationId, InstanceId } from '@chimera/domain/ids'
import {
  type Announcement,
  type Availability,
  presenceExpiry,
} from '@chimera/domain/presence/presence'
import type { Clock } from '@chimera/host/clock'
import { generateKeyPair, type KeyPair } from '@chimera/identity/keys'
import { signMessage } from '@chimera/identity/message'
import type { Answered, TestHub } from './running.ts'

export type Declared = {
  readonly state?: Availability
  readonly callback?: string
  readonly by?: KeyPair
  readonly at?: number
}

export type Poster = {
  readonly id: AgentId
  readonly instance: InstanceId
  readonly skill: string
  readonly key: KeyPair
  readonly announcement: (changed?: Partial<Announcement>) => Announcement
  readonly signed: (changed?: Partial<Announcement>, by?: KeyPair) => object
  readonly post: (changed?: Partial<Announcement>, to?: TestHub) => Promise<Answered>
  readonly declare: (changed?: Declared, to?: TestHub) => Promise<Answered>
  /** Says goodbye and leaves, so that its silence is nobody's affair. */
  readonly leave: (to?: TestHub) => Promise<void>
}

export type PosterWish = {
  readonly skill?: string
  readonly bound?: boolean
  readonly cost?: number
  readonly endpoint?: string
}

export async function createPoster(
  hub: TestHub,
  clock: Clock,
  wish: PosterWish = {},
): Promise<Poster> {
  const { skill = `skill_${randomUUID().slice(0, 8)}`, bound = true, cost = 0.05 } = wish
  const id = randomUUID() as string as AgentId
  const instance = randomUUID() as string as InstanceId
  const key = generateKeyPair()
  const { status } = await hub.post('/register', {
    agent_id: id,
    agent_name: 'Poster',
    owner_id: 'bolt',
    api_endpoint: wish.endpoint ?? 'https://poster.example.org/jobs',
    skills: [{ skill_name: skill, cost_per_call: cost }],
  })
  if (status !== 201) throw new Error(`registering answered ${status}`)

  const announcement: Poster['announcement'] = (changed = {}) => {
    const availability = changed.availability ?? 'available'
    const signedAt = changed.signedAt ?? clock.now()
    return {
      agent: id,
      instance,
      availability,
      capabilities: [skill],
      slotsTotal: 4,
      slotsFree: 3,
      load: { cpu: 0.25, mem: 0.125 },
      signedAt,
      expiresAt: presenceExpiry(availability, signedAt),
      correlation: 'trace-1' as CorrelationId,
      ...changed,
    }
  }
  const signed: Poster['signed'] = (changed, by = key) =>
    signMessage(encodePresence(announcement(changed)), by)
  const post: Poster['post'] = (changed, to = hub) =>
    to.post('/moltbook/v1/presence', signed(changed))
  const declare: Poster['declare'] = (changed = {}, to = hub) => {
    const { state = 'available', callback, by = key, at } = changed
    const signedAt = at ?? clock.now()
    const declared = encodeCapability({
      type: 'declare_capabilities',
      agent: id,
      instance,
      availability: state,
      capabilities: [skill],
      ...(callback !== undefined && { callback }),
      claimedKey: by.publicKey,
      correlation: 'trace-2' as CorrelationId,
      signedAt,
      expiresAt: signedAt + 30_000,
    })
    return to.post('/moltbook/v1/capability', signMessage(declared, by))
  }
  async function leave(to = hub): Promise<void> {
    // A millisecond ahead: another post may have been signed at this very moment.
    await post({ availability: 'offline', signedAt: clock.now() + 1 }, to)
    await to.call(`/agents/${id}`, { method: 'DELETE' })
  }
  if (bound) {
    const answer = await declare({ at: clock.now() - 1 })
    if (answer.status !== 204) throw new Error(`declaring answered ${answer.status}`)
  }
  return { id, instance, skill, key, announcement, signed, post, declare, leave }
}
