/**
 * An ask on its way up the ladder: who asks, whether it was answered before, whether the input
 * fits, whether it is paid for, and whether there is room (OC-10 … OC-15, CH-5, CH-15).
 *
 *   A1  Asks under one scope are looked at one after the other, so that a repeat finds what the
 *       first was answered.
 *   A2  From the look at the desk to the taking of the slot nothing is awaited.
 *   A3  Priced work is taken on only when the hub has confirmed its hold; if it has not, the slot
 *       is free again and nothing is kept (P-1).
 */
import { contentOf } from '@chimera/dialects/openclaw'
import { readSkillRef, resolveSkill, writeSkillVersion } from '@chimera/domain/agent/skill-version'
import { type Issue, type Refused, refuse } from '@chimera/domain/decision'
import type { Digest, Instant, WorkId } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import type { Refusal } from '@chimera/domain/refusals'
import {
  type Admitted,
  countsForRate,
  decideAdmission,
  type OfferedSkill,
  queuedOf,
} from '@chimera/domain/work/admission'
import { isRemembered, rememberUntil, scopeKey } from '@chimera/domain/work/idempotency'
import type { Ask, WorkAsked, WorkState } from '@chimera/domain/work/work'
import type { Chance } from '@chimera/host/chance'
import type { Clock } from '@chimera/host/clock'
import type { Log } from '@chimera/host/log'
import { canonicalDigest } from '@chimera/identity/canonical'
import type { Skill } from '@chimera/skill/contract'
import type { Runner } from '@chimera/skill/runner'
import type { Held, Network, Self } from '../ports.ts'
import type { Desk } from './desk.ts'
import { type Door, isOpenAgain, type Keep, type KeptWork, type Requester } from './keep.ts'
import { findRequester, type Signer } from './requester.ts'

export type AskHands = {
  readonly self: Self
  readonly network: Network
  readonly runner: Pick<Runner, 'examine'>
  readonly skills: readonly Skill[]
  readonly keep: Keep
  readonly desk: Desk
  readonly clock: Clock
  readonly chance: Chance
  readonly log: Log
  /** Whether work is taken in the present condition. */
  readonly accepting: () => boolean
  /** The author's own rule: a code for why not, or undefined. */
  readonly policy?: (asked: WorkAsked, requester: Requester) => string | undefined
}

export type AskedWork = {
  readonly door: Door
  readonly asked: WorkAsked
  readonly signer: Signer
  /** It came by the bus. */
  readonly bus?: true
}

export type Answered =
  | { readonly ok: true; readonly kept: KeptWork; readonly repeated: boolean }
  | Refused<Refusal>

export type Asking = (asked: AskedWork, begin: (kept: KeptWork) => void) => Promise<Answered>

export function createAsking(hands: AskHands): Asking {
  const { self, keep, skills } = hands
  const offered = skills.map(offerOf)
  const turns = new Map<string, Promise<unknown>>()

  /** A1. */
  async function inTurn<Result>(scope: string, run: () => Promise<Result>): Promise<Result> {
    const before = turns.get(scope)
    const mine = (async () => {
      if (before !== undefined) await before.catch(() => undefined)
      return run()
    })()
    turns.set(scope, mine)
    try {
      return await mine
    } finally {
      if (turns.get(scope) === mine) turns.delete(scope)
    }
  }

  async function answer(asking: AskedWork, begin: (kept: KeptWork) => void): Promise<Answered> {
    const { asked, signer } = asking
    const priced = priceOf(offered, asked.skill, hands.clock.now()) > 0
    const requester = await findRequester(hands, { ...asked, signer, priced })
    if ('ok' in requester) return requester
    const { key } = asked
    const scope = scopeKey({ requester: requester.name, responder: self.agent, key })
    return inTurn(scope, async () => {
      const content = canonicalDigest(contentOf(asked))
      const earlier = await keep.find(scope)
      if (earlier !== undefined && !isOpenAgain(earlier)) return repeated(earlier, content)
      const work = hands.chance.uuidV7(hands.clock.now()) as WorkId
      const ask = askOf(asked, { work, requester, content, agent: self.agent }, hands.clock.now())
      return climb(hands, offered, { ...asking, ask, requester, scope }, begin)
    })
  }

  return async (asking, begin) => {
    try {
      return await answer(asking, begin)
    } catch (error) {
      // A keep that does not answer: nothing was begun, and the same ask may be made again.
      hands.log.error({ err: error }, 'an ask could not be looked at')
      return refuse('service_unavailable', { retryAt: hands.clock.now() + AGAIN_MS })
    }
  }
}

const AGAIN_MS = 1_000

type Climbing = AskedWork & {
  readonly ask: Ask
  readonly requester: Requester
  readonly scope: string
}

async function climb(
  hands: AskHands,
  offered: readonly OfferedSkill[],
  climbing: Climbing,
  begin: (kept: KeptWork) => void,
): Promise<Answered> {
  const { network, desk, keep, clock } = hands
  const { asked, ask, requester } = climbing
  const looked = examine(hands, climbing)
  if ('ok' in looked) return looked
  const priceCents = priceOf(offered, ask.skill, clock.now())
  const open = await network.isOpen()
  // Free work whose requester is known by its hold has one, of nothing; it is accepted like others.
  const isHeld = priceCents > 0 || requester.proof === 'hold'
  const held = isHeld ? await heldFor(network, climbing) : undefined
  if (held !== undefined && 'ok' in held) return held

  // A2: from here to the taking of the slot nothing is awaited.
  const now = clock.now()
  const claim = { requester: requester.name, task: ask.task }
  const breach = hands.policy?.(asked, requester)
  const decision = decideAdmission(
    {
      ...desk.look(claim, now),
      accepting: hands.accepting(),
      skills: offered,
      open,
      ...(held && { heldCents: held.heldCents }),
    },
    ask,
    {
      schemaIssues: [],
      inputIssues: looked,
      ...(breach !== undefined && { policyBreach: breach }),
    },
    now,
  )
  if (countsForRate(decision)) {
    desk.count({ type: 'ask_counted', requester: requester.name, at: now })
  } else if (!decision.ok && decision.refusal === 'rate_exceeded') {
    desk.count({ type: 'ask_turned_away', requester: requester.name, at: now })
  }
  if (!decision.ok) return remember(hands, climbing, decision, now)
  const [admitted] = decision.facts
  if (admitted === undefined) return refuse('service_unavailable')
  const kept = keptOf(climbing, admitted, held, now)
  const undo = settleIn(desk, kept, admitted, now)
  if (undo === undefined) return refuse('service_unavailable')

  try {
    if (held !== undefined && admitted.answer !== 'deferred') {
      const confirmed = await network.confirm(held.hold, termsOf(kept))
      if (!confirmed.ok) {
        undo()
        return unpaid(confirmed, priceCents)
      }
    }
    const other = await keep.enter(kept)
    if (other !== undefined) {
      undo()
      return repeated(other, ask.content)
    }
  } catch (error) {
    undo()
    hands.log.error({ err: error }, 'work could not be kept')
    // If it may be kept all the same its hold is needed, and whoever asks again finds it.
    if (held !== undefined && !isUnsure(error)) await network.release(held.hold)
    return refuse('service_unavailable')
  }
  begin(kept)
  return { ok: true, kept, repeated: false }
}

const isUnsure = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'outcome_unknown'

/** The part of the desk that the work takes; the answer gives it back. */
function settleIn(
  desk: Desk,
  { work: { ask } }: KeptWork,
  { answer, estimatedEnd, skill }: Admitted,
  now: Instant,
): (() => void) | undefined {
  const { work, task, requester } = ask
  switch (answer) {
    case 'accepted':
      if (!desk.take({ requester, task, work, until: estimatedEnd }, now)) return undefined
      return () => desk.free(work)
    case 'awaiting':
      desk.awaiting(work, true)
      return () => desk.awaiting(work, false)
    case 'deferred':
      desk.queue(queuedOf(ask, skill.durationMs, now))
      return () => desk.unqueue(work)
  }
}

/** The issues of the input; a skill that nobody offers has none, since the ladder says so first. */
function examine(
  { runner }: AskHands,
  { asked, ask }: Climbing,
): readonly Issue[] | Refused<Refusal> {
  const examined = runner.examine(asked.skill, asked.input, { key: ask.work })
  if (examined.ok) return []
  const { why, issues } = examined.error
  if (why === 'input_invalid') return issues.length > 0 ? issues : [UNFIT]
  if (why === 'unknown_skill' || why === 'unknown_version') return []
  return refuse('service_unavailable')
}

const UNFIT: Issue = { path: '', expected: 'an input of the skill', got: 'something else' }

/** Only the requester's own credits count. */
async function heldFor(
  network: Network,
  { ask, requester }: Climbing,
): Promise<Held | undefined | Refused<Refusal>> {
  const { owner } = requester
  const held = await network.held({ task: ask.task, ...(owner !== undefined && { payer: owner }) })
  if (held === undefined || 'ok' in held) return held
  const { agent, proof } = requester
  const isOwn = held.payer === owner || (agent !== undefined && held.hirer === agent)
  return isOwn || proof === 'open' ? held : undefined
}

/** OC-12: what asking again cannot cure is answered in the same way again. */
async function remember(
  { keep, log }: AskHands,
  climbing: Climbing,
  refused: Refused<Refusal>,
  now: Instant,
): Promise<Answered> {
  if (!isRemembered(refused.refusal)) return refused
  const { ask } = climbing
  const state = { name: 'refused', refusal: refused.refusal } as const
  const kept: KeptWork = {
    ...basicsOf(climbing),
    work: { ask, priceCents: 0, state },
    skill: ask.skill,
    durationMs: 0,
    refused,
    forgetAt: rememberUntil(now),
  }
  try {
    await keep.enter(kept)
  } catch (error) {
    log.warn({ err: error }, 'a refusal was not remembered')
  }
  return refused
}

function keptOf(
  climbing: Climbing,
  admitted: Admitted,
  held: Held | undefined,
  now: Instant,
): KeptWork {
  const { ask } = climbing
  const { skill, priceCents } = admitted
  return {
    ...basicsOf(climbing),
    work: { ask, priceCents, state: stateOf(ask, admitted, now) },
    skill: writeSkillVersion(skill.name, skill.version),
    durationMs: skill.durationMs,
    ...(held && { hold: held.hold }),
  }
}

const basicsOf = ({ scope, door, requester, asked, bus }: Climbing) => ({
  scope,
  door,
  requester,
  input: asked.input,
  letters: [],
  ...(asked.callback !== undefined && { callback: asked.callback }),
  ...(bus && { bus }),
})

function stateOf(
  { deadline }: Ask,
  { answer, deferredUntil = 0, estimatedEnd }: Admitted,
  now: Instant,
): WorkState {
  switch (answer) {
    case 'accepted':
      return { name: 'accepted', acceptedAt: now, estimatedEnd }
    case 'awaiting':
      return { name: 'awaiting', since: now, until: deadline ?? now + LIMITS.approvalWaitMs }
    case 'deferred':
      return { name: 'deferred', until: deferredUntil }
  }
}

export function termsOf({ work: { ask, priceCents } }: KeptWork) {
  return ask.deadline === undefined ? { priceCents } : { priceCents, deadline: ask.deadline }
}

/** A hold that is gone by now is no hold; a hub that does not answer says nothing about it. */
export function unpaid(refused: Refused<Refusal>, priceCents: number): Refused<Refusal> {
  const gone = ['hold_unknown', 'hold_ended', 'budget_insufficient', 'settlement_mismatch']
  if (!gone.includes(refused.refusal)) return refused
  return refuse('hold_missing', { figures: { priceCents, heldCents: 0 } })
}

function askOf(
  asked: WorkAsked,
  known: Pick<Ask, 'work' | 'content' | 'agent'> & { readonly requester: Requester },
  now: Instant,
): Ask {
  const { task, skill, key, correlation, priority, deadline, budgetCents, quotedCents } = asked
  const { work, content, agent, requester } = known
  return {
    work,
    task,
    requester: requester.name,
    agent,
    skill,
    key,
    content,
    correlation,
    priority,
    askedAt: now,
    ...(deadline !== undefined && { deadline }),
    ...(budgetCents !== undefined && { budgetCents }),
    ...(quotedCents !== undefined && { quotedCents }),
  }
}

/** A timeout is the worst case: where the author says nothing, a second is likelier. */
function offerOf(skill: Skill): OfferedSkill {
  const { name, version, deprecation, priceCents, needsApproval, timeoutMs, durationMs } = skill
  return {
    name,
    version,
    priceCents,
    needsApproval,
    durationMs: durationMs ?? Math.min(timeoutMs, USUAL_MS),
    ...(deprecation && { deprecation }),
  }
}

const USUAL_MS = 1_000

function priceOf(offered: readonly OfferedSkill[], skill: string, now: Instant): number {
  const ref = readSkillRef(skill)
  const resolved = ref && resolveSkill(offered, ref, now)
  return resolved?.ok ? resolved.offer.priceCents : 0
}

/** I3 of the domain: other content under a known key is a conflict, never the old answer. */
function repeated(kept: KeptWork, content: Digest): Answered {
  if (kept.work.ask.content !== content) return refuse('key_conflict')
  return kept.refused ?? { ok: true, kept, repeated: true }
}
