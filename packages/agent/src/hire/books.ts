/**
 * The hub as a hirer needs it: who offers a skill, holds, what became of work, and keys.
 *
 *   B1  The hub is the arbiter of who is bound. A hold that is withdrawn before its agent has
 *       accepted can pay nobody, so asking the next one is safe; a hold that can no longer be
 *       withdrawn has an agent at work (P-1, P-3).
 *   B2  Every order carries its own id, so that it may be repeated after a lost answer.
 */
import {
  encodeHoldRelease,
  encodeNewHold,
  type HoldSeen,
  type HoldWanted,
  readHoldAnswer,
  readKeyHistory,
  readWork,
  type WorkSeen,
} from '@chimera/dialects/chimera'
import {
  type AgentFound,
  type AgentPlace,
  encodeAccountOpening,
  encodeDiscovery,
  encodeTransfer,
  readAgentEntry,
  readDiscovered,
} from '@chimera/dialects/chorus'
import { encodeDirectoryQuery, type InstanceFound, readDirectory } from '@chimera/dialects/moltbook'
import type { KeyHistory } from '@chimera/domain/agent/keys'
import type { AgentId, HoldId, Instant, TaskId, TransferId } from '@chimera/domain/ids'
import type { HubAnswer, HubCall, HubClient } from '../hub/client.ts'
import { HireFailure } from './failure.ts'

export type Sought = {
  readonly skill: string
  readonly maxCostCents?: number
  readonly minScoreMicro?: number
  readonly limit: number
  /** Default: 0, from the first. */
  readonly offset?: number
  /** `fair` gives newcomers their share (P-14). */
  readonly order: 'reputation' | 'fair'
}

/** What bounds one conversation with the hub. */
export type Bounds = Pick<HubCall, 'signal' | 'deadline' | 'correlation'>

export type Placed =
  | { readonly kind: 'placed'; readonly hold: HoldSeen }
  /** Somebody has worked, or works, under this name: what became of it must be known first. */
  | { readonly kind: 'begun' }

export type Books = {
  readonly discover: (sought: Sought, bounds?: Bounds) => Promise<readonly AgentFound[]>
  readonly place: (
    wanted: HoldWanted & { readonly hold: HoldId },
    bounds?: Bounds,
  ) => Promise<Placed>
  /** `free`: nobody can be paid from it any more. `bound`: its agent has accepted (B1). */
  readonly withdraw: (hold: HoldId, bounds?: Bounds) => Promise<'free' | 'bound'>
  readonly hold: (id: HoldId, bounds?: Bounds) => Promise<HoldSeen>
  /** Undefined: the hub never heard of it. */
  readonly work: (task: TaskId, bounds?: Bounds) => Promise<WorkSeen | undefined>
  /** Pays what was agreed, if the agent has not claimed it already (CH-8). */
  readonly settle: (hold: HoldSeen, bounds?: Bounds) => Promise<void>
  /** Ranked for a planner, those first that have room (AV-7). */
  readonly instances: (
    sought: {
      readonly skill?: string
      readonly agent?: AgentId
      readonly slots?: number
      readonly limit: number
    },
    bounds?: Bounds,
  ) => Promise<readonly InstanceFound[]>
  /** Nobody has to prove anything there (CH-15). */
  readonly isOpen: () => Promise<boolean>
  /** Of a hold, or of a reservation that costs nothing: whatever became of it, it is not wanted. */
  readonly giveUp: (id: HoldId, bounds?: Bounds) => Promise<void>
  readonly agent: (id: AgentId, bounds?: Bounds) => Promise<AgentPlace>
  readonly keys: (agent: AgentId, bounds?: Bounds) => Promise<KeyHistory>
}

export function createBooks(hub: HubClient, now: () => Instant): Books {
  let open: boolean | undefined

  const findHold: Books['hold'] = async (id, bounds = {}) => {
    const answer = valueIn(await hub.get(`/v1/holds/${id}`, bounds), readHoldAnswer)
    if (answer.hold === undefined) throw new HireFailure('hub_unanswered', { detail: 'no hold' })
    return answer.hold
  }

  const placing = (wanted: HoldWanted, bounds: Bounds): Promise<HubAnswer> =>
    hub.post('/v1/holds', encodeNewHold(wanted), repeated(bounds))

  return {
    async discover({ skill, offset = 0, ...sought }, bounds = {}) {
      const search = { type: 'find_agents', skills: [skill], ...sought, offset } as const
      const query = new URLSearchParams(encodeDiscovery(search))
      return valueIn(await hub.get(`/discover?${query.toString()}`, bounds), readDiscovered)
    },

    async place(wanted, bounds = {}) {
      let answer = await placing(wanted, bounds)
      if (refusedIn(answer).refusal === 'account_unknown' && wanted.payer !== undefined) {
        // A hirer's first hire: an account that exists keeps its balance.
        const opening = encodeAccountOpening({ type: 'open_account', owner: wanted.payer })
        const opened = await hub.post('/accounts', opening, repeated(bounds))
        if (opened.ok) answer = await placing(wanted, bounds)
      }
      const { refusal } = refusedIn(answer)
      if (refusal === 'task_conflict' || refusal === 'work_ended') return { kind: 'begun' }
      const { hold } = valueIn(answer, readHoldAnswer)
      if (hold === undefined) throw new HireFailure('hub_unanswered', { detail: 'no hold' })
      return { kind: 'placed', hold }
    },

    async withdraw(id, bounds = {}) {
      const message = encodeHoldRelease('withdrawn')
      const answer = await hub.post(`/v1/holds/${id}/release`, message, repeated(bounds))
      const { refusal } = refusedIn(answer)
      if (refusal === 'hold_unknown') return 'free'
      if (refusal !== 'caller_forbidden' && refusal !== 'hold_ended')
        valueIn(answer, readHoldAnswer)
      const { stage } = await findHold(id, bounds)
      return stage === 'confirmed' || stage === 'captured' ? 'bound' : 'free'
    },

    hold: findHold,

    async work(task, bounds = {}) {
      const answer = await hub.get(`/v1/work/${task}`, bounds)
      return refusedIn(answer).refusal === 'work_unknown' ? undefined : valueIn(answer, readWork)
    },

    async settle({ id, payer, payee, task, priceCents }, bounds = {}) {
      if (priceCents === undefined || priceCents === 0) return
      // The hold names the order: who settles twice settles once.
      const transfer = id as string as TransferId
      const order = { type: 'transfer_credits', transfer, payer, payee, task } as const
      const message = encodeTransfer({ ...order, amountCents: priceCents }, now())
      const answer = await hub.post('/transfer', message, repeated(bounds))
      if (!answer.ok) throw failureOf(answer)
    },

    async instances({ skill, agent, slots, limit }, bounds = {}) {
      const search = { type: 'find_instances', availability: 'available', offset: 0 } as const
      const sought = {
        ...search,
        capabilities: skill === undefined ? [] : [skill],
        limit,
        ...(slots !== undefined && { minSlotsFree: slots }),
        ...(agent !== undefined && { agent }),
      }
      const query = new URLSearchParams(encodeDirectoryQuery(sought))
      const answer = await hub.get(`/moltbook/v1/directory?${query.toString()}`, bounds)
      return valueIn(answer, readDirectory).instances
    },

    async giveUp(id, bounds = {}) {
      const message = encodeHoldRelease('withdrawn')
      const answer = await hub.post(`/v1/holds/${id}/release`, message, repeated(bounds))
      if (!answer.ok && refusedIn(answer).refusal !== 'hold_ended') throw failureOf(answer)
    },

    async isOpen() {
      if (open !== undefined) return open
      const answer = await hub.get('/v1/keys/hub')
      if (answer.ok) open = false
      else if (answer.kind === 'refused' && answer.status === 404) open = true
      // A hub that does not say is taken for one that is not.
      return open ?? false
    },

    async agent(id, bounds = {}) {
      return valueIn(await hub.get(`/agents/${id}`, bounds), readAgentEntry)
    },

    async keys(agent, bounds = {}) {
      return valueIn(await hub.get(`/v1/keys/${agent}`, bounds), readKeyHistory)
    },
  }
}

type Read<Meaning> = (value: unknown) => { readonly ok: true; readonly value: Meaning } | Unread
type Unread = { readonly ok: false; readonly refusal: string }

/** What the answer means, or why there is none. */
function valueIn<Meaning>(answer: HubAnswer, read: Read<Meaning>): Meaning {
  if (!answer.ok) throw failureOf(answer)
  const meaning = read(answer.body)
  if (meaning.ok) return meaning.value
  throw new HireFailure('hub_unanswered', { detail: 'the answer is not what was asked for' })
}

function failureOf(answer: Exclude<HubAnswer, { ok: true }>): HireFailure {
  if (answer.kind === 'unanswered') {
    return new HireFailure(answer.code === 'cancelled' ? 'given_up' : 'hub_unanswered', {
      detail: `${answer.code}: ${answer.detail}`,
    })
  }
  const { code, sentence, refusal } = answer
  const more = refusal === undefined ? {} : { refusal }
  return new HireFailure('hub_refused', { detail: `${code}: ${sentence}`, ...more })
}

const refusedIn = (answer: HubAnswer): { readonly refusal?: string } =>
  !answer.ok && answer.kind === 'refused' ? answer : {}

const repeated = (bounds: Bounds) => ({ ...bounds, repeatable: true })
