/**
 * The hub over HTTP, as work needs it (`Network`).
 *
 *   N1  What the hub says of an agent is believed for half a minute, so that a busy requester costs
 *       one question; a signature that does not fit is judged by what the hub says now.
 *   N2  A hub that does not say whether it is open is taken for one that is not.
 *   N3  What the hub has put aside with a promise is not asked for again by the work that comes on
 *       it, once: whether it still stands, the hub says when the work is accepted.
 */
import {
  encodeConfirmation,
  encodeHoldRelease,
  encodeWorkProgress,
  type HeldSeen,
  readAgentOwner,
  readHolds,
  readHubKey,
  readKeyHistory,
} from '@chimera/dialects/chimera'
import { presentKey } from '@chimera/domain/agent/keys'
import { type Refused, refuse } from '@chimera/domain/decision'
import type { AgentId, Instant, PublicKey, TaskId } from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'
import type { Clock } from '@chimera/host/clock'
import type { HubAnswer, HubClient } from '../hub/client.ts'
import type { Done, Held, Known, Network } from '../ports.ts'
import { createPresenting, heldBy } from './presenting.ts'
import { createReports } from './reports.ts'

export type NetworkHands = {
  readonly hub: Pick<HubClient, 'get' | 'post'>
  readonly agent: AgentId
  readonly clock: Pick<Clock, 'now'>
}

type Remembered = { readonly known: Known | undefined; readonly until: Instant }

const BELIEVED_MS = 30_000
const MOST_KNOWN = 10_000
const RETRY_MS = 2_000
/** What is in the body makes a second one the same. */
const REPEATED = { repeatable: true } as const

export function createNetwork({ hub, agent: self, clock }: NetworkHands): Network {
  const remembered = new Map<AgentId, Remembered>()
  let open: boolean | undefined
  let hubKey: { readonly key: PublicKey; readonly until: Instant } | undefined

  const refusedBy = (answer: Exclude<HubAnswer, { ok: true }>): Refused<Refusal> => {
    if (answer.kind === 'unanswered') return away()
    const { refusal, retryable, retryAt, issues } = answer
    const word = refusal ?? (retryable ? 'service_unavailable' : 'policy_violated')
    return refuse(word, {
      ...(retryAt !== undefined && { retryAt }),
      ...(issues && { issues }),
    })
  }
  const away = () => refuse('service_unavailable', { retryAt: clock.now() + RETRY_MS })
  const doneBy = (answer: HubAnswer): Done => (answer.ok ? { ok: true } : refusedBy(answer))
  const { report, reportAll } = createReports({ hub, doneBy })
  const present = createPresenting({ hub, clock, refusedBy, away })
  const promisedHolds = new Map<TaskId, { readonly held: Held; readonly until: Instant }>()

  /** N3. */
  function rememberPromised({ task, ...held }: Held & { task: TaskId }, until: Instant): void {
    promisedHolds.set(task, { held, until })
    const oldest = promisedHolds.keys().next()
    if (promisedHolds.size > MOST_KNOWN && !oldest.done) promisedHolds.delete(oldest.value)
  }

  function takePromised(task: TaskId): Held | undefined {
    const known = promisedHolds.get(task)
    if (known === undefined) return undefined
    promisedHolds.delete(task)
    return known.until > clock.now() ? known.held : undefined
  }

  async function ask(id: AgentId): Promise<Known | undefined | Refused<Refusal>> {
    const [entry, keys] = await Promise.all([hub.get(`/agents/${id}`), hub.get(`/v1/keys/${id}`)])
    if (!entry.ok) {
      const refused = refusedBy(entry)
      return refused.refusal === 'service_unavailable' ? refused : undefined
    }
    const owner = readAgentOwner(entry.body)
    if (!owner.ok) return away()
    const history = keys.ok ? readKeyHistory(keys.body) : undefined
    const key = history?.ok ? presentKey(history.value) : undefined
    return { owner: owner.value, ...(key && { publicKey: key.publicKey }) }
  }

  async function lookWhetherOpen(): Promise<boolean> {
    const answer = await hub.get('/v1/keys/hub')
    if (answer.ok) open = false
    else if (answer.kind === 'refused' && answer.status === 404) open = true
    return open ?? false
  }

  async function askHubKey(): Promise<PublicKey | undefined | Refused<Refusal>> {
    const answer = await hub.get('/v1/keys/hub')
    if (!answer.ok) {
      const isOpen = answer.kind === 'refused' && answer.status === 404
      return isOpen ? undefined : refusedBy(answer)
    }
    const read = readHubKey(answer.body)
    if (!read.ok) return away()
    hubKey = { key: read.value, until: clock.now() + BELIEVED_MS }
    return hubKey.key
  }

  async function askAnew(id: AgentId): Promise<Known | undefined | Refused<Refusal>> {
    const known = await ask(id)
    if (known !== undefined && 'ok' in known) return known
    remembered.delete(id)
    remembered.set(id, { known, until: clock.now() + BELIEVED_MS })
    const oldest = remembered.keys().next()
    if (remembered.size > MOST_KNOWN && !oldest.done) remembered.delete(oldest.value)
    return known
  }

  return {
    isOpen: () => open ?? lookWhetherOpen(),
    hubKey: (fresh = false) =>
      !fresh && hubKey !== undefined && hubKey.until > clock.now() ? hubKey.key : askHubKey(),
    agent(id, fresh = false) {
      const before = remembered.get(id)
      return !fresh && before !== undefined && before.until > clock.now()
        ? before.known
        : askAnew(id)
    },
    async held({ task, payer }) {
      const promised = takePromised(task)
      if (promised !== undefined && promised.payer === payer) return promised
      const answer = await hub.get(`/v1/holds?task_id=${task}&agent_id=${self}`)
      if (!answer.ok) return refusedBy(answer)
      const holds = readHolds(answer.body)
      if (!holds.ok) return away()
      const meant = holds.value.filter(
        (each) => isStanding(each, clock.now()) && (payer === undefined || each.payer === payer),
      )
      const [one] = meant
      // Two payers may use one name: then nobody can tell who is meant.
      if (one === undefined || meant.length > 1) return undefined
      return heldBy(one)
    },
    confirm: async (hold, terms) =>
      doneBy(await hub.post(`/v1/holds/${hold}/confirm`, encodeConfirmation(terms), REPEATED)),
    release: async (id) =>
      doneBy(await hub.post(`/v1/holds/${id}/release`, encodeHoldRelease('refused'), REPEATED)),
    async present(offer, signal) {
      const promised = await present(offer, signal)
      if (promised.ok && promised.held) rememberPromised(promised.held, promised.lapsesAt)
      return promised
    },
    report: (result) => report(result),
    async advance(task, how) {
      const path = `/v1/work/${encodeURIComponent(task)}/progress`
      await hub.post(path, encodeWorkProgress(how, clock.now()), { tries: 1 })
    },
    reportAll,
  }
}

const isStanding = ({ stage, endsAt }: HeldSeen, now: Instant): boolean =>
  (stage === 'placed' || stage === 'confirmed') && endsAt > now
