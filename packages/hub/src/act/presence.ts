/**
 * Posts and declarations of instances (AV-1 to AV-3): proven by the agent's key, decided, kept.
 *
 *   Q1  What is not proven reaches no view. It is kept with its verdict, for whoever looks into it.
 *   Q2  The first declaration that proves the key it names binds it to an agent that was registered
 *       unsigned, which only an open hub lets happen. A post names no key and binds none.
 *   Q3  An event's id holds the time of its receipt, so a reader resumes by the id alone.
 *   Q4  What is acknowledged is kept: a post as an event, a declaration until a newer one.
 */
import {
  type CapabilitiesDeclared,
  type EventsFound,
  type EventsSought,
  type PresencePosted,
  VERIFICATION_WORDS,
  type Verdict,
} from '@chimera/dialects/moltbook'
import { presentKey } from '@chimera/domain/agent/keys'
import { type Refused, refuse } from '@chimera/domain/decision'
import type { AgentId, Instant, PublicKey } from '@chimera/domain/ids'
import type { Announcement } from '@chimera/domain/presence/presence'
import type { Refusal } from '@chimera/domain/refusals'
import { keyIdOf } from '@chimera/identity/keys'
import { findNewest } from './agents.ts'
import type { Hub } from './hub.ts'
import { giveBack } from './offers.ts'

/** A message as it came, and what it means. */
export type Received<Meaning> = {
  readonly meaning: Meaning
  readonly message: Readonly<Record<string, unknown>>
  readonly raw: string
}

type Outcome = { readonly ok: true } | Refused<Refusal>

export async function announce(hub: Hub, post: Received<PresencePosted>): Promise<Outcome> {
  const { announcement, signature } = post.meaning
  const id = hub.uuidV7()
  const outcome = await judgePost(hub, post)
  const verification = outcome.ok ? 'verified' : outcome.refusal
  if (isVerdict(verification)) {
    const receivedAt = receiptIn(id)
    const { raw } = post
    await hub.keep.presence.append({ id, announcement, receivedAt, verification, signature, raw })
  }
  if (outcome.ok) await drain(hub, announcement)
  return outcome
}

async function judgePost(hub: Hub, post: Received<PresencePosted>): Promise<Outcome> {
  const { announcement } = post.meaning
  const { agent } = announcement
  const known = hub.directory.find(agent) ?? (await findNewest(hub, agent))
  if (known === undefined) return refuse('agent_unknown')
  const proof = await prove(hub, agent, post.message)
  if (!proof.ok) return proof
  const taken = hub.presence.announce(announcement, hub.now())
  if (taken.ok) hub.publish('presence', post.message, post.raw)
  return taken
}

type Proof = Awaited<ReturnType<Hub['verify']>>

/** By the key that speaks for the agent; it may have got another at another hub a moment ago. */
async function prove(hub: Hub, agent: AgentId, message: object): Promise<Proof> {
  const key = keyOf(hub, agent)
  const proof = await proveBy(hub, { agent, message, key })
  if (proof.ok) return proof
  await hub.share.readAnew(agent)
  const newer = keyOf(hub, agent)
  return newer === key ? proof : proveBy(hub, { agent, message, key: newer })
}

type Proving = {
  readonly agent: AgentId
  readonly message: object
  readonly key: PublicKey | undefined
}

async function proveBy(hub: Hub, { agent, message, key }: Proving): Promise<Proof> {
  if (key === undefined) return refuse('signature_invalid')
  const proof = await hub.verify(message, key)
  // Verifying takes a moment, in which the agent may have left or changed its key.
  return proof.ok && keyOf(hub, agent) !== key ? refuse('signature_invalid') : proof
}

export async function declare(hub: Hub, told: Received<CapabilitiesDeclared>): Promise<Outcome> {
  const { agent, claimedKey, correlation } = told.meaning
  if ((await findNewest(hub, agent)) === undefined) return refuse('agent_unknown')
  // It may have got its key at another hub a moment ago.
  if (keyOf(hub, agent) !== claimedKey) await hub.share.readAnew(agent)
  const bound = keyOf(hub, agent)
  if (bound !== undefined && bound !== claimedKey) return refuse('key_mismatch')
  // Elsewhere a key is bound by registering, with the owner's token.
  if (bound === undefined && hub.key !== undefined) return refuse('caller_unknown')
  const proof = await hub.verify(told.message, claimedKey)
  if (!proof.ok) return proof

  if (keyOf(hub, agent) === undefined) {
    // What is too old to be taken must not bind a key either.
    const timely = hub.presence.canDeclare(told.meaning, hub.now())
    if (!timely.ok) return timely
    const key = { id: keyIdOf(claimedKey), publicKey: claimedKey }
    const outcome = await hub.keep.agents.bind({ id: agent, correlation }, key)
    if (!outcome.decision.ok) return outcome.decision
    if (outcome.agent !== undefined) hub.directory.enter(outcome.agent)
    hub.share.changed()
  }
  if (keyOf(hub, agent) !== claimedKey) return refuse('key_mismatch')
  const taken = await keepDeclaration(hub, told.meaning)
  if (taken.ok) {
    hub.publish('capability', told.message, told.raw)
    await drain(hub, told.meaning)
  }
  return taken
}

/** AV-5: who takes nothing new keeps no promise that nobody has used. */
async function drain(
  hub: Hub,
  { instance, availability, correlation }: Announcement | CapabilitiesDeclared,
): Promise<void> {
  const leaves = availability === 'draining' || availability === 'offline'
  if (leaves) await giveBack(hub, instance, correlation)
}

/** Kept before it is taken, so that what is acknowledged survives a restart (Q4). */
async function keepDeclaration(
  hub: Hub,
  { type: _, correlation: __, ...declaration }: CapabilitiesDeclared,
): Promise<Outcome> {
  const now = hub.now()
  const timely = hub.presence.canDeclare(declaration, now)
  if (!timely.ok) return timely
  const { agent, instance, signedAt } = declaration
  const kept = await hub.keep.observations.put({
    kind: 'declaration',
    subject: instance,
    about: agent,
    at: signedAt,
    heardAt: now,
    body: declaration,
  })
  // Another hub may have taken a newer one, or one of the agent that the instance belongs to.
  if (kept.body.signedAt !== signedAt || kept.about !== agent) {
    hub.presence.restoreDeclaration(kept.body)
  }
  return hub.presence.declare(declaration, now)
}

export async function readEvents(hub: Hub, sought: EventsSought): Promise<EventsFound> {
  const { type: _, availability, after, limit, ...rest } = sought
  const found = await hub.keep.presence.find({
    ...rest,
    ...(availability !== undefined && { state: availability }),
    ...(after !== undefined && { after: { receivedAt: receiptIn(after), id: after } }),
    first: 'oldest',
    // One more than asked for tells whether there is more.
    limit: limit + 1,
  })
  const events = found.slice(0, limit).map(({ verification, raw, ...event }) => ({
    ...event,
    verdict: isVerdict(verification) ? verification : ('signature_invalid' as const),
    raw: JSON.parse(raw) as Record<string, unknown>,
  }))
  const last = found.length > limit ? events.at(-1)?.id : undefined
  return last === undefined ? { events } : { events, nextAfter: last }
}

/** The key that speaks for an agent that is on the network. */
function keyOf(hub: Hub, id: AgentId): PublicKey | undefined {
  const agent = hub.directory.find(id)
  return agent && presentKey(agent.keys)?.publicKey
}

const isVerdict = (word: string): word is Verdict => Object.hasOwn(VERIFICATION_WORDS, word)

/** A uuid of version 7 begins with 48 bits of time. */
function receiptIn(id: string): Instant {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
}
