/**
 * An ask on its way up the ladder: who asks, whether it was answered before, whether the input
 * fits, whether it is paid for, and whether there is room (OC-10 … OC-15, CH-5, CH-15).
 *
 *   A1  Asks under one scope are looked at one after the other, so that a repeat finds what the
 *       first was answered.
 *
 * The rest of the ladder is in climbing.ts.
 */
import { contentOf } from '@chimera/dialects/openclaw'
import { type Refused, refuse } from '@chimera/domain/decision'
import type { Instant, WorkId } from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'
import { scopeKey } from '@chimera/domain/work/idempotency'
import type { Ask, WorkAsked } from '@chimera/domain/work/work'
import type { Chance } from '@chimera/host/chance'
import type { Clock } from '@chimera/host/clock'
import type { Log } from '@chimera/host/log'
import { canonicalDigest } from '@chimera/identity/canonical'
import type { Looked } from '@chimera/skill/calls'
import type { Skill } from '@chimera/skill/contract'
import type { Runner } from '@chimera/skill/runner'
import { isPromise, type Soon } from '@chimera/skill/soon'
import type { Network, Self } from '../ports.ts'
import { type Climbing, climb, offerOf, priceOf, repeated } from './climbing.ts'
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

/**
 * `looked` is what was found of its input, for work that begins at once. The answer takes it back,
 * where it could not be kept.
 */
export type Begin = (kept: KeptWork, looked: Looked | undefined) => () => void
/** Answered at once where all that is needed is known and kept here. */
export type Asking = (asked: AskedWork, begin: Begin) => Soon<Answered>

export function createAsking(hands: AskHands): Asking {
  const { self, keep, skills, clock } = hands
  const offered = skills.map(offerOf)
  const turns = new Map<string, Promise<unknown>>()
  const looking = { network: hands.network, keep, signers: new WeakMap() }

  /** A1. What is decided without waiting has no turn to wait for. */
  function inTurn<Result>(scope: string, run: () => Soon<Result>): Soon<Result> {
    const before = turns.get(scope)
    const mine = before === undefined ? run() : before.then(run, run)
    if (!isPromise(mine)) return mine
    turns.set(scope, mine)
    const leave = (): void => {
      if (turns.get(scope) === mine) turns.delete(scope)
    }
    mine.then(leave, leave)
    return mine
  }

  function answer(asking: AskedWork, begin: Begin): Soon<Answered> {
    const { asked, signer } = asking
    const { task, claimedRequester } = asked
    const priceCents = priceOf(offered, asked.skill, clock.now())
    const found = findRequester(looking, { task, claimedRequester, signer, priced: priceCents > 0 })
    return isPromise(found)
      ? found.then((requester) => answerTo(requester, asking, begin))
      : answerTo(found, asking, begin)
  }

  function answerTo(
    requester: Requester | Refused<Refusal>,
    asking: AskedWork,
    begin: Begin,
  ): Soon<Answered> {
    if ('ok' in requester) return requester
    const { key } = asking.asked
    const scope = scopeKey({ requester: requester.name, responder: self.agent, key })
    const scoped = { asking, requester, scope }
    return inTurn(scope, () => {
      const earlier = keep.find(scope)
      return isPromise(earlier)
        ? earlier.then((found) => answerAfter(found, scoped, begin))
        : answerAfter(earlier, scoped, begin)
    })
  }

  function answerAfter(
    earlier: KeptWork | undefined,
    { asking, requester, scope }: Omit<Climbing, 'ask'>,
    begin: Begin,
  ): Soon<Answered> {
    const { asked } = asking
    const content = canonicalDigest(contentOf(asked))
    if (earlier !== undefined && !isOpenAgain(earlier)) return repeated(earlier, content)
    const now = clock.now()
    const work = hands.chance.uuidV7(now) as WorkId
    const ask = askOf(asked, { work, requester, content, agent: self.agent }, now)
    return climb(hands, offered, { asking, requester, scope, ask }, begin)
  }

  function failed(error: unknown): Answered {
    // A keep that does not answer: nothing was begun, and the same ask may be made again.
    hands.log.error({ err: error }, 'an ask could not be looked at')
    return refuse('service_unavailable', { retryAt: clock.now() + AGAIN_MS })
  }

  return (asking, begin) => {
    try {
      const answered = answer(asking, begin)
      return isPromise(answered) ? answered.catch(failed) : answered
    } catch (error) {
      return failed(error)
    }
  }
}

const AGAIN_MS = 1_000

function askOf(
  asked: WorkAsked,
  known: Pick<Ask, 'work' | 'content' | 'agent'> & { readonly requester: Requester },
  now: Instant,
): Ask {
  const { task, skill, key, correlation, priority, deadline, budgetCents, quotedCents } = asked
  const { work, content, agent, requester } = known
  const ask: Ask = {
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
  }
  const isPlain = deadline === undefined && budgetCents === undefined && quotedCents === undefined
  if (isPlain) return ask
  return {
    ...ask,
    ...(deadline !== undefined && { deadline }),
    ...(budgetCents !== undefined && { budgetCents }),
    ...(quotedCents !== undefined && { quotedCents }),
  }
}
