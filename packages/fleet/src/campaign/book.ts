/**
 * The record of a campaign while it runs: changed in memory at once, kept one version after the
 * other. Nothing goes on before what led to it is kept, so that whoever comes after a crash knows
 * as much as whoever ran into it.
 */
import type { Instant } from '@chimera/domain/ids'
import type { CampaignDesk } from './desk.ts'
import type { CampaignRecord } from './record.ts'

export type Book = {
  readonly record: () => CampaignRecord
  /** Resolves when it is kept. */
  readonly change: (move: (record: CampaignRecord, now: Instant) => CampaignRecord) => Promise<void>
}

export function createBook(
  first: CampaignRecord,
  hands: {
    readonly desk: Pick<CampaignDesk, 'save'>
    readonly now: () => Instant
    readonly signal: AbortSignal
  },
): Book {
  let record = first
  let saved: Promise<void> = Promise.resolve()
  return {
    record: () => record,
    change(move) {
      record = move(record, hands.now())
      const version = record
      saved = saved.then(() => hands.desk.save(version, hands.signal))
      return saved
    },
  }
}
