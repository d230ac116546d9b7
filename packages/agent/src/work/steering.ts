/**
 * What others decide about work that is on its way: its requester cancels it (OC-18), a person
 * agrees to it (OC-19), an operator has its letters sent again (P-8). At whichever instance they
 * say so: what nobody is at comes into these hands, and whoever is at the rest is told.
 */
import { accept, type Decision, refuse } from '@chimera/domain/decision'
import type { WorkId } from '@chimera/domain/ids'
import { isUnbegun } from '@chimera/domain/work/kept'
import {
  decideWork,
  type WorkCommand,
  type WorkFact,
  type WorkRefusal,
} from '@chimera/domain/work/work'
import type { Clock } from '@chimera/host/clock'
import type { Soon } from '@chimera/skill/soon'
import type { Keep, KeptWork } from './keep.ts'
import type { Live, Lives } from './live.ts'

export type Moved = Decision<WorkFact, WorkRefusal>

export type SteerHands = {
  readonly keep: Keep
  readonly clock: Clock
  readonly lives: Lives
  readonly put: (kept: KeptWork) => Live
  readonly move: (one: Live, command: WorkCommand) => Soon<Moved>
  /** It has left the waiting room or a slot. */
  readonly moved: () => void
  /** A person has agreed: it waits for a slot now. */
  readonly approved: (one: Live) => void
  readonly send: (kept: KeptWork) => void
}

export type Steering = {
  /** By the requester, of what has not ended (OC-18). */
  readonly cancel: (kept: KeptWork) => Promise<Moved>
  /** A person agrees (OC-19). */
  readonly approve: (id: WorkId) => Promise<Decision<WorkFact, WorkRefusal | 'work_unknown'>>
  /** Tries again to deliver what of this work could not be. */
  readonly resend: (id: WorkId) => Promise<Decision<never, 'work_unknown'>>
}

// How often it is looked whether another instance did as it was told.
const HEARD_MS = 250

export function createSteering(hands: SteerHands): Steering {
  const { keep, clock, lives, move } = hands
  const { shared } = keep
  // Where others may have it by now, what is kept is what counts.
  const find = async (id: WorkId) =>
    (shared === undefined ? lives.of(id)?.kept : undefined) ?? keep.byWork(id)

  /** In this instance's hands, also what another one had and was not at. */
  async function inHand(id: WorkId): Promise<Live | undefined> {
    const one = lives.of(id)
    // What only waits may have been taken from here without a word, so it is taken anew.
    if (one !== undefined && (shared === undefined || !isUnbegun(one.kept.work.state))) return one
    const kept = await shared?.take(id)
    return kept && hands.put(kept)
  }

  return {
    async cancel(kept) {
      const { work: id, requester: by } = kept.work.ask
      const command = { type: 'cancel', by } as const
      const until = clock.now() + 2 * (shared?.leaseMs ?? 0)
      for (;;) {
        const { work } = (await find(id)) ?? kept
        const decision = decideWork(work, command, clock.now())
        if (!decision.ok || decision.facts.length === 0) return decision
        const one = await inHand(id)
        const moved = one && (await move(one, command))
        if (moved?.ok) {
          hands.moved()
          return moved
        }
        // Whoever is at it hears of it; if that one has died, it comes into these hands.
        if (shared === undefined || clock.now() >= until) return refuse('work_not_begun')
        await shared.wishCancelled(id)
        await clock.sleep(HEARD_MS)
      }
    },

    async approve(id) {
      const known = await find(id)
      if (known?.work.state.name !== 'awaiting') {
        return refuse(known === undefined ? 'work_unknown' : 'work_not_begun')
      }
      const one = await inHand(id)
      if (one === undefined) return refuse('work_not_begun')
      const estimatedEnd = clock.now() + one.kept.durationMs
      const decision = await move(one, { type: 'admit', estimatedEnd })
      if (decision.ok) hands.approved(one)
      return decision
    },

    async resend(id) {
      const known = await find(id)
      if (known === undefined) return refuse('work_unknown')
      const one = (await inHand(id)) ?? (shared === undefined ? hands.put(known) : undefined)
      // Another instance is at it, and tells what it has to.
      if (one === undefined) return accept()
      const letters = one.kept.letters.map(({ lost: _, ...each }) => ({ ...each, attempts: 0 }))
      await lives.save(one, { ...one.kept, letters })
      hands.send(one.kept)
      return accept()
    },
  }
}
