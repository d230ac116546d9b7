/**
 * An ask whose requester is known, up the ladder (OC-10 … OC-15, CH-5, CH-15): whether the input
 * fits, whether it is paid for, whether there is room; then it is kept and begun.
 *
 *   A2  From the look at the desk to the taking of the slot nothing is awaited.
 *   A3  Priced work is taken on only when the hub has confirmed its hold; if it has not, the slot
 *       is free again and nothing is kept (P-1).
 *   A4  Nothing is waited for that is there: free work is decided and kept in one step.
 *   A5  Free work that may run again begins while it is written down. Nobody hears of it before it
 *       is; if it cannot be, its run is stopped and whoever asks again begins anew.
 */
import { readSkillRef, resolveSkill, writeSkillVersion } from '@chimera/domain/agent/skill-version'
import { type Issue, type Refused, refuse } from '@chimera/domain/decision'
import type { Digest, Instant } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import type { Refusal } from '@chimera/domain/refusals'
import {
  type Admitted,
  countsForRate,
  decideAdmission,
  type OfferedSkill,
  queuedOf,
} from '@chimera/domain/work/admission'
import { isRemembered, rememberUntil } from '@chimera/domain/work/idempotency'
import type { Ask, WorkState } from '@chimera/domain/work/work'
import type { Looked } from '@chimera/skill/calls'
import type { Skill } from '@chimera/skill/contract'
import { isPromise, type Soon } from '@chimera/skill/soon'
import type { Held, Network } from '../ports.ts'
import type { Answered, AskedWork, AskHands, Begin } from './asking.ts'
import type { Desk } from './desk.ts'
import type { KeptWork, Requester } from './keep.ts'

export type Climbing = {
  readonly asking: AskedWork
  readonly ask: Ask
  readonly requester: Requester
  readonly scope: string
}

/** Up the ladder of the domain, from who asks to work that is kept and begun, or to a no. */
export function climb(
  hands: AskHands,
  offered: readonly OfferedSkill[],
  climbing: Climbing,
  begin: Begin,
): Soon<Answered> {
  const { network, clock } = hands
  const { ask, requester } = climbing
  const looked = examine(hands, climbing)
  if ('ok' in looked && !looked.ok) return looked
  const priceCents = priceOf(offered, ask.skill, clock.now())
  const open = network.isOpen()
  // Free work whose requester is known by its hold has one, of nothing; it is accepted like others.
  const isHeld = priceCents > 0 || requester.proof === 'hold'
  const admitWith = (isOpen: boolean, held: Held | undefined): Soon<Answered> =>
    admit({ hands, offered, climbing, looked, priceCents, begin, open: isOpen, held })
  if (!isHeld && !isPromise(open)) return admitWith(open, undefined)
  return (async () => {
    const isOpen = await open
    const held = isHeld ? await heldFor(network, climbing) : undefined
    return held !== undefined && 'ok' in held ? held : admitWith(isOpen, held)
  })()
}

type Admitting = {
  readonly hands: AskHands
  readonly offered: readonly OfferedSkill[]
  readonly climbing: Climbing
  readonly looked: Looked | readonly Issue[]
  readonly priceCents: number
  readonly open: boolean
  readonly held: Held | undefined
  readonly begin: Begin
}

/** A2: nothing is awaited from the look at the desk to the taking of the slot. */
function admit(admitting: Admitting): Soon<Answered> {
  const { hands, offered, climbing, looked, open, held } = admitting
  const { desk, clock } = hands
  const { asking, ask, requester } = climbing
  const now = clock.now()
  const claim = { requester: requester.name, task: ask.task }
  const breach = hands.policy?.(asking.asked, requester)
  const inputIssues = 'ok' in looked ? NO_ISSUES : looked
  const desked = { accepting: hands.accepting(), skills: offered, open, ...desk.look(claim, now) }
  const decision = decideAdmission(
    held === undefined ? desked : { ...desked, heldCents: held.heldCents },
    ask,
    breach === undefined
      ? { schemaIssues: NO_ISSUES, inputIssues }
      : { schemaIssues: NO_ISSUES, inputIssues, policyBreach: breach },
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
  const paid = held !== undefined && admitted.answer !== 'deferred'
  return paid ? pay(admitting, kept, held, undo) : enter(admitting, kept, undo)
}

/** A3. */
async function pay(
  admitting: Admitting,
  kept: KeptWork,
  { hold }: Held,
  undo: () => void,
): Promise<Answered> {
  const { hands, priceCents } = admitting
  try {
    const confirmed = await hands.network.confirm(hold, termsOf(kept))
    if (confirmed.ok) return await enter(admitting, kept, undo)
    undo()
    return unpaid(confirmed, priceCents)
  } catch (error) {
    return unkept(admitting, undo, error)
  }
}

function enter(admitting: Admitting, kept: KeptWork, undo: () => void): Soon<Answered> {
  const { hands, climbing, looked, begin } = admitting
  const early = mayBeginEarly(admitting, kept) ? beginEarly(admitting, kept) : undefined
  if (early !== undefined) return early
  const entered = (other: KeptWork | undefined): Answered => {
    if (other !== undefined) {
      undo()
      return repeated(other, climbing.ask.content)
    }
    begin(kept, 'ok' in looked ? looked : undefined)
    return { ok: true, kept, repeated: false }
  }
  const failed = (error: unknown): Promise<Answered> => unkept(admitting, undo, error)
  let other: Soon<KeptWork | undefined>
  try {
    other = hands.keep.enter(kept)
  } catch (error) {
    return failed(error)
  }
  return isPromise(other) ? other.then(entered, failed) : entered(other)
}

/** A5. */
function mayBeginEarly({ hands, looked, held }: Admitting, { work, skill }: KeptWork): boolean {
  if (hands.keep.enterEarly === undefined || held !== undefined || !('ok' in looked)) return false
  if (work.state.name !== 'accepted') return false
  return !hands.skills.some((each) => each.id === skill && each.idempotency.once)
}

function beginEarly(admitting: Admitting, kept: KeptWork): Soon<Answered> | undefined {
  const { hands, looked, begin } = admitting
  let entering: { readonly kept: Promise<void> } | undefined
  try {
    entering = hands.keep.enterEarly?.(kept)
  } catch {
    // A keep that is full says so on the usual way.
  }
  if (entering === undefined) return undefined
  const stop = begin(kept, 'ok' in looked ? looked : undefined)
  return entering.kept.then(
    () => ({ ok: true, kept, repeated: false }),
    // Its slot is free when its run has ended, as always.
    (error: unknown) => unkept(admitting, stop, error),
  )
}

async function unkept(
  { hands, held }: Admitting,
  undo: () => void,
  error: unknown,
): Promise<Answered> {
  undo()
  hands.log.error({ err: error }, 'work could not be kept')
  // If it may be kept all the same its hold is needed, and whoever asks again finds it.
  if (held !== undefined && !isUnsure(error)) await hands.network.release(held.hold)
  return refuse('service_unavailable')
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
  { asking: { asked }, ask }: Climbing,
): Looked | readonly Issue[] | Refused<Refusal> {
  const examined = runner.examine(asked.skill, asked.input, { key: ask.work })
  if (examined.ok) return examined.looked
  const { why, issues } = examined.error
  if (why === 'input_invalid') return issues.length > 0 ? issues : [UNFIT]
  if (why === 'unknown_skill' || why === 'unknown_version') return NO_ISSUES
  return refuse('service_unavailable')
}

const NO_ISSUES: readonly Issue[] = []
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
  const work = { ask, priceCents: 0, state }
  const kept: KeptWork = {
    ...keptAs(climbing, { work, skill: ask.skill, durationMs: 0 }),
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
  const kept = keptAs(climbing, {
    work: { ask, priceCents, state: stateOf(ask, admitted, now) },
    skill: writeSkillVersion(skill.name, skill.version),
    durationMs: skill.durationMs,
  })
  return held === undefined ? kept : { ...kept, hold: held.hold }
}

/** In one literal, since there is one for each ask, and most have neither callback nor bus. */
function keptAs(
  { asking: { door, asked, bus }, requester, scope }: Climbing,
  { work, skill, durationMs }: Pick<KeptWork, 'work' | 'skill' | 'durationMs'>,
): KeptWork {
  const { input, callback } = asked
  const kept: KeptWork = {
    scope,
    door,
    requester,
    work,
    input,
    skill,
    durationMs,
    letters: NO_LETTERS,
  }
  if (callback === undefined && !bus) return kept
  return { ...kept, ...(callback !== undefined && { callback }), ...(bus && { bus }) }
}

const NO_LETTERS: KeptWork['letters'] = []

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

/** A timeout is the worst case: where the author says nothing, a second is likelier. */
export function offerOf(skill: Skill): OfferedSkill {
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

export function priceOf(offered: readonly OfferedSkill[], skill: string, now: Instant): number {
  const ref = readSkillRef(skill)
  const resolved = ref && resolveSkill(offered, ref, now)
  return resolved?.ok ? resolved.offer.priceCents : 0
}

/** I3 of the domain: other content under a known key is a conflict, never the old answer. */
export function repeated(kept: KeptWork, content: Digest): Answered {
  if (kept.work.ask.content !== content) return refuse('key_conflict')
  return kept.refused ?? { ok: true, kept, repeated: true }
}
