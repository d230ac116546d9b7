/**
 * A new key, introduced to the hub by the old one (AV-12, P-15), also if that breaks off half way.
 *
 *   R1  Only the hub says which key speaks. A rotation that was not answered is looked up in the
 *       key history, and neither repeated nor forgotten before that is known.
 *   R2  A prepared key that the hub does not know stays prepared: the next rotation uses it.
 */
import { KEY_MESSAGES } from '@chimera/dialects/chimera'
import type { AgentId, KeyId } from '@chimera/domain/ids'
import type { Clock } from '@chimera/host/clock'
import { signRotation } from '@chimera/identity/rotation'
import type { HubClient, HubRefused } from '../hub/client.ts'
import type { Keys } from './keys.ts'

export type Rotating = {
  readonly agent: AgentId
  readonly keys: Keys
  readonly hub: Pick<HubClient, 'get' | 'post'>
  readonly clock: Pick<Clock, 'now'>
}

export type Rotated =
  | { readonly is: 'rotated'; readonly old: KeyId; readonly now: KeyId }
  | { readonly is: 'refused'; readonly answer: HubRefused }
  /** The hub could not be asked which key speaks; the old one goes on, the next is prepared. */
  | { readonly is: 'unknown' }

export async function rotateKey(rotating: Rotating): Promise<Rotated> {
  const { agent, keys, hub, clock } = rotating
  const old = keys.pair()
  const next = await keys.prepare()
  const message = signRotation(agent, { old, next }, clock.now())
  const answer = await hub.post(`/v1/keys/${agent}/rotate`, message, { tries: 1 })
  if (answer.ok) {
    await keys.promote()
    return { is: 'rotated', old: old.id, now: next.id }
  }
  // Also a refusal is looked into: this may repeat a rotation whose answer was lost.
  const settled = await settleRotation(rotating)
  if (settled === 'promoted') return { is: 'rotated', old: old.id, now: next.id }
  return answer.kind === 'refused' && settled === 'none'
    ? { is: 'refused', answer }
    : { is: 'unknown' }
}

/** On start, and after a rotation without an answer: whether the prepared key speaks already. */
export async function settleRotation({
  agent,
  keys,
  hub,
}: Rotating): Promise<'none' | 'promoted' | 'unknown'> {
  const next = await keys.prepared()
  // Another copy of the agent may have promoted it.
  if (next === undefined) return (await keys.reload()) ? 'promoted' : 'none'
  const answer = await hub.get(`/v1/keys/${agent}`)
  if (!answer.ok) return answer.kind === 'refused' ? 'none' : 'unknown'
  const read = KEY_MESSAGES['key-history'].read(answer.body)
  if (!read.ok) return 'unknown'
  const present = read.value.keys.find(({ until }) => until === undefined)
  if (present?.key_id !== next.id) return 'none'
  await keys.promote()
  return 'promoted'
}
