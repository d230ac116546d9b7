/**
 * What work needs of others: who this agent is, the hub that it belongs to, and whoever tells the
 * network how it stands.
 *
 *   P1  A port never rejects because the world does not answer: that is the refusal
 *       `service_unavailable`, and whoever asked decides what follows.
 *   P2  A port may be asked the same again after a lost answer; the hub does each of it once.
 */
import type { Workload } from '@chimera/domain/agent/condition'
import type { Refused } from '@chimera/domain/decision'
import type {
  AgentId,
  HoldId,
  InstanceId,
  Instant,
  OwnerId,
  PublicKey,
  ReservationId,
  TaskId,
} from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'
import type { Reservation } from '@chimera/domain/work/capacity'
import type { KeyPair } from '@chimera/identity/keys'
import type { Soon } from '@chimera/skill/soon'
import type { SignedResults } from './work/signed.ts'

/** Who speaks. The key is asked for each time, since it can be rotated. */
export type Self = {
  readonly agent: AgentId
  readonly instance: InstanceId
  readonly owner: OwnerId
  readonly key: () => KeyPair
  /** Results that were signed a moment ago. */
  readonly signed?: SignedResults
}

/** Credits that somebody put aside for this agent and a task, and that are still there. */
export type Held = {
  readonly hold: HoldId
  readonly payer: OwnerId
  readonly hirer?: AgentId
  readonly heldCents: number
}

export type Promised = {
  readonly ok: true
  readonly reservation: ReservationId
  readonly lapsesAt: Instant
  readonly hold?: HoldId
  /** What was put aside with the slots, as the hub told it then. */
  readonly held?: Held & { readonly task: TaskId }
}

export type Known = { readonly publicKey?: PublicKey; readonly owner: OwnerId }

export type Done = { readonly ok: true } | Refused<Refusal>

/** The hub, as far as work has to do with it. */
export type Network = {
  /** Nobody has to prove anything there, and priced work runs without a hold (CH-15). */
  readonly isOpen: () => Soon<boolean>
  /** The key that the hub signs with now; undefined: an open hub, which vouches for nothing. */
  readonly hubKey: (fresh?: boolean) => Soon<PublicKey | undefined | Refused<Refusal>>
  /** Undefined: no such agent. What is known may be half a minute old, unless it is to be fresh. */
  readonly agent: (id: AgentId, fresh?: boolean) => Soon<Known | undefined | Refused<Refusal>>
  /** Undefined: nothing is held. Without a payer, the one hold that can be meant. */
  readonly held: (asked: {
    readonly task: TaskId
    readonly payer?: OwnerId
  }) => Promise<Held | undefined | Refused<Refusal>>
  /** The work is accepted at this price: from now on only its end ends the hold. */
  readonly confirm: (
    hold: HoldId,
    terms: { readonly priceCents: number; readonly deadline?: Instant },
  ) => Promise<Done>
  /** Gives back what was put aside for work that will not be done. */
  readonly release: (id: HoldId | ReservationId, promised?: Reservation) => Promise<Done>
  /** Shows the planner's signed offer, for slot and money together (AV-8). */
  readonly present: (offer: object, signal: AbortSignal) => Promise<Promised | Refused<Refusal>>
  /** The signed result: it claims the hold, or gives it back (CH-9). */
  readonly report: (result: object, asked?: { readonly bus?: true }) => Promise<Done>
  /** Many results in one message, where that can be; an outcome for each, in their order. */
  readonly reportAll?: (results: readonly object[]) => Promise<readonly Done[]>
  /** How far long work has come, for whoever looks at the hub. If it is lost, it is lost. */
  readonly advance?: (
    task: TaskId,
    how: { readonly share: number; readonly note?: string },
  ) => Promise<void>
  /** The final answer to a request that came by the bus and was deferred (OC-15). */
  readonly respond?: (response: object, to: AgentId) => Promise<Done>
}

/** Hears of every change in how much there is to do. */
export type Voices = { readonly changed: (workload: Workload) => void }
