/**
 * Putting a campaign away that will not be completed: a step that all others need failed, or
 * somebody called it off. What waits for a person then waits no longer (the hub sees to that).
 *
 *   V1  What is put away is what the hub has: of the run itself the last words may be lost.
 *   V2  It says what was under way, and that it did not end: of its steps as of its pieces.
 */
import { writeInstant } from '@chimera/dialects/wire'
import { putAwayAs } from '@chimera/domain/campaign/content'
import { isCampaignOver } from '@chimera/domain/campaign/status'
import type { Instant } from '@chimera/domain/ids'
import type { CampaignDesk } from './desk.ts'
import { DeskFailure } from './hub-desk.ts'
import { type CampaignRecord, movedTo, touched, wayOf } from './record.ts'

/** A word of the run that was on its way may come first. */
const TRIES = 3

export async function archive(
  id: string,
  {
    desk,
    now,
    words,
    signal,
  }: {
    readonly desk: Pick<CampaignDesk, 'load' | 'save'>
    readonly now: () => Instant
    readonly words: string
    readonly signal: AbortSignal
  },
): Promise<void> {
  for (let tried = 1; ; tried += 1) {
    const record = (await desk.load(id, signal))?.record
    if (record === undefined || isCampaignOver(record.status)) return
    try {
      return await desk.save(archived(record, words, now()), signal)
    } catch (error) {
      if (!(error instanceof DeskFailure) || tried === TRIES) throw error
    }
  }
}

/** V2. */
function archived(record: CampaignRecord, words: string, now: Instant): CampaignRecord {
  const steps = record.steps.map((step) =>
    step.state === 'running'
      ? ({ ...step, state: 'failed', ended_at: writeInstant(now), words } as const)
      : step,
  )
  const pieces = record.pieces.map((piece) => {
    const state = putAwayAs(wayOf(piece))
    return state === undefined ? piece : movedTo(piece, state, { now, words })
  })
  return touched(record, { status: 'archived', steps, pieces }, now)
}
