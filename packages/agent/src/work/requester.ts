/**
 * Whose work it is. A signature says which agent; where nobody signed, a hold at the hub for
 * exactly this task does, whose name only its payer could know; on an open hub the claim does.
 *
 *   R1  A signature that does not fit the agent that is named is refused, not passed over.
 *   R2  An owner has no key of its own: what it asks for unsigned is its own by its hold (CH-15).
 *   R3  Who is known is not looked for, and is one object for all that it asks: a busy requester
 *       has thousands of pieces of work.
 */
import { isUuid } from '@chimera/dialects/wire'
import { type Refused, refuse } from '@chimera/domain/decision'
import type { AgentId, OwnerId, PublicKey } from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'
import type { WorkAsked } from '@chimera/domain/work/work'
import { isPromise, type Soon } from '@chimera/skill/soon'
import type { Known, Network } from '../ports.ts'
import type { Keep, KeptWork, Requester } from './keep.ts'

/** The key whose signature over the request was verified; absent where nobody signed. */
export type Signer = PublicKey | undefined

export type RequesterHands = {
  readonly network: Network
  readonly keep: Keep
  /** R3. */
  readonly signers: WeakMap<Known, Requester>
}

export type Wanted = Pick<WorkAsked, 'task' | 'claimedRequester'> & {
  readonly signer: Signer
  /** Whether there is something to pay, so that there may be a hold. */
  readonly priced: boolean
}

export function findRequester(
  hands: RequesterHands,
  wanted: Wanted,
): Soon<Requester | Refused<Refusal>> {
  const { claimedRequester: claimed, signer } = wanted
  const known = signer !== undefined && isUuid(claimed) && hands.network.agent(claimed as AgentId)
  if (!known || isPromise(known) || 'ok' in known || known.publicKey !== signer) {
    return lookFor(hands, wanted)
  }
  return signedBy(hands.signers, claimed as AgentId, known)
}

function signedBy(signers: RequesterHands['signers'], agent: AgentId, known: Known): Requester {
  const before = signers.get(known)
  if (before?.agent === agent) return before
  const requester: Requester = { name: agent, proof: 'signed', agent, owner: known.owner }
  signers.set(known, requester)
  return requester
}

async function lookFor(
  { network, keep, signers }: RequesterHands,
  wanted: Wanted,
): Promise<Requester | Refused<Refusal>> {
  const { task, claimedRequester: claimed, signer } = wanted
  const agent = isUuid(claimed) ? (claimed as AgentId) : undefined
  if (signer !== undefined && agent !== undefined) {
    const known = await holderOf(network, agent, signer)
    if (known !== undefined && 'ok' in known) return known
    if (known !== undefined) return signedBy(signers, agent, known)
    if (!(await network.isOpen())) return refuse('signature_invalid')
  }
  const proof = (await network.isOpen()) ? 'open' : 'hold'
  if (proof === 'open') {
    const claimant = await claimedBy(network, wanted)
    if ('ok' in claimant || claimant.owner !== undefined) return claimant
  }
  // Who cannot say who it is is known by its task: also when it comes back under another name, and
  // when the work has ended and the hold that stood for it is gone.
  const earlier = await keep.byTask(task)
  const isSame = earlier?.requester.proof === proof && earlier.requester.agent === undefined
  if (earlier !== undefined && isSame) return earlier.requester
  const held = proof === 'hold' || wanted.priced ? await network.held({ task }) : undefined
  if (held === undefined) {
    return proof === 'open' ? { name: claimed, proof } : refuse('caller_unknown')
  }
  if ('ok' in held) return held
  return { name: held.payer, proof, owner: held.payer }
}

/** On an open hub a claim is all there is: of an agent that is known, else of an owner. */
async function claimedBy(
  network: Network,
  { claimedRequester: claimed }: Wanted,
): Promise<Requester | Refused<Refusal>> {
  if (!isUuid(claimed)) return { name: claimed, proof: 'open', owner: claimed as OwnerId }
  const agent = claimed as AgentId
  const known = await network.agent(agent)
  if (known !== undefined && 'ok' in known) return known
  return { name: agent, proof: 'open', ...(known && { agent, owner: known.owner }) }
}

/** Undefined: the key is not this agent's, nor was it made so a moment ago. */
async function holderOf(
  network: Network,
  agent: AgentId,
  signer: PublicKey,
): Promise<Known | undefined | Refused<Refusal>> {
  for (const fresh of [false, true]) {
    const known = await network.agent(agent, fresh)
    if (known !== undefined && 'ok' in known) return known
    if (known?.publicKey === signer) return known
  }
  return undefined
}

/**
 * Who may look at work, and cancel it: whoever could have asked for it; and the hub, which asks for
 * whoever pays (decision 0081).
 */
export async function isConcerned(
  network: Network,
  { requester: { proof, agent } }: KeptWork,
  signer: Signer,
): Promise<boolean> {
  if (proof !== 'signed' || agent === undefined) return true
  if (signer === undefined) return false
  if (signer === (await network.hubKey())) return true
  const known = await holderOf(network, agent, signer)
  return known !== undefined && !('ok' in known)
}
