/**
 * How far a campaign has come, as it is kept and shown: a plain value, and the moves that change
 * it. Times are handed in.
 *
 *   R1  A step has one entry, however often it is taken: what was done before a crash is found
 *       again and not told twice, with the times it had.
 *   R2  A piece of content goes its way by the domain's table; what that does not allow is a bug
 *       here and throws.
 *   R3  What was spent is what the steps cost.
 */
import type { CampaignPiece, CampaignRecord, CampaignStep } from '@chimera/dialects/chimera'
import { centsOf, instantOf, writeCents, writeInstant } from '@chimera/dialects/wire'
import {
  type ContentState,
  type ContentWay,
  contentStateOf,
  isContentOver,
  mayFollow,
} from '@chimera/domain/campaign/content'
import type { Instant } from '@chimera/domain/ids'
import type { RunCampaignInput } from './asked.ts'

export type { CampaignPiece, CampaignRecord, CampaignStep } from '@chimera/dialects/chimera'

export function beginRecord({ campaign }: RunCampaignInput, now: Instant): CampaignRecord {
  const { campaign_id, name, goals, budget, content_guidelines } = campaign
  return {
    campaign_id,
    version: 1,
    name,
    goals,
    persona: content_guidelines.persona.name,
    status: 'active',
    budget: { total: budget.total, spent: 0 },
    pieces: [],
    steps: [],
    created_at: writeInstant(now),
    updated_at: writeInstant(now),
  }
}

/** The next version of it. */
export const touched = (
  record: CampaignRecord,
  change: Partial<CampaignRecord>,
  now: Instant,
): CampaignRecord => ({
  ...record,
  ...change,
  version: record.version + 1,
  updated_at: writeInstant(now),
})

/** R1, R3. */
export function withStep(record: CampaignRecord, step: CampaignStep, now: Instant): CampaignRecord {
  const known = record.steps.findIndex((each) => each.step === step.step)
  const steps = known < 0 ? [...record.steps, step] : record.steps.with(known, step)
  const cents = steps.reduce((sum, { cost }) => sum + centsOf(cost), 0)
  return touched(record, { steps, budget: { ...record.budget, spent: writeCents(cents) } }, now)
}

export const stepOf = (record: CampaignRecord, name: string): CampaignStep | undefined =>
  record.steps.find(({ step }) => step === name)

export const pieceOf = (record: CampaignRecord, id: string): CampaignPiece | undefined =>
  record.pieces.find(({ piece_id }) => piece_id === id)

export function withPiece(
  record: CampaignRecord,
  piece: CampaignPiece,
  now: Instant,
): CampaignRecord {
  const known = record.pieces.findIndex(({ piece_id }) => piece_id === piece.piece_id)
  const pieces = known < 0 ? [...record.pieces, piece] : record.pieces.with(known, piece)
  return touched(record, { pieces }, now)
}

export function wayOf({ moments }: CampaignPiece): ContentWay {
  const [first, ...others] = moments.map(({ state, at, words }) => ({
    state,
    at: instantOf(at),
    ...(words !== undefined && { words }),
  }))
  if (first === undefined) throw new Error('a piece of content has at least one moment')
  return [first, ...others]
}

export const pieceState = (piece: CampaignPiece): ContentState => contentStateOf(wayOf(piece))

export const isPieceOver = (piece: CampaignPiece): boolean => isContentOver(wayOf(piece))

/** R2. */
export function movedTo(
  piece: CampaignPiece,
  state: ContentState,
  { now, words }: { readonly now: Instant; readonly words?: string },
): CampaignPiece {
  const way = wayOf(piece)
  if (!mayFollow(way, state)) {
    throw new Error(`content does not go from ${contentStateOf(way)} to ${state}`)
  }
  const moment = { state, at: writeInstant(now), ...(words !== undefined && { words }) }
  return { ...piece, moments: [...piece.moments, moment] }
}
