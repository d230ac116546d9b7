/** Where a piece of content stands, in words and in the lanes of the board. */
import type { CampaignPiece, CampaignSeen } from '@chimera/dialects/chimera'
import { type ContentState, isContentOver } from '@chimera/domain/campaign/content'
import type { Tone } from './hires.ts'

/** In the order in which content comes through them. */
export const LANES = ['found', 'making', 'waiting', 'published', 'ended'] as const
export type Lane = (typeof LANES)[number]

type Standing = { readonly lane: Lane; readonly words: string; readonly tone: Tone }

// biome-ignore format: a table is read by its columns
const STANDINGS: Readonly<Record<ContentState, Standing>> = {
  trend_detected:    { lane: 'found',     words: 'trend seen',         tone: 'plain' },
  filtered_out:      { lane: 'ended',     words: 'left out',           tone: 'plain' },
  accepted:          { lane: 'found',     words: 'chosen',             tone: 'plain' },
  generating:        { lane: 'making',    words: 'being written',      tone: 'plain' },
  generation_failed: { lane: 'ended',     words: 'writing failed',     tone: 'bad' },
  generated:         { lane: 'making',    words: 'written',            tone: 'plain' },
  validating:        { lane: 'making',    words: 'being judged',       tone: 'plain' },
  validation_failed: { lane: 'ended',     words: 'judging failed',     tone: 'bad' },
  validated:         { lane: 'making',    words: 'judged',             tone: 'plain' },
  approval_pending:  { lane: 'waiting',   words: 'waits',              tone: 'warn' },
  approval_expired:  { lane: 'ended',     words: 'nobody answered',    tone: 'warn' },
  rejected:          { lane: 'making',    words: 'sent back',          tone: 'warn' },
  approved:          { lane: 'published', words: 'approved',           tone: 'good' },
  publishing:        { lane: 'published', words: 'being published',    tone: 'good' },
  publish_failed:    { lane: 'ended',     words: 'publishing failed',  tone: 'bad' },
  published:         { lane: 'published', words: 'published',          tone: 'good' },
}

type Moments = CampaignPiece['moments']

const latestOf = (moments: Moments): Moments[number] | undefined => moments.at(-1)

/** What was sent back once too often is over, though its state is the same. */
export function standingOf({ moments }: Pick<CampaignPiece, 'moments'>): Standing {
  const last = latestOf(moments)
  const standing = STANDINGS[last?.state ?? 'trend_detected']
  const [first, ...rest] = moments.map(({ state, at }) => ({ state, at: Date.parse(at) }))
  const isSpent = last?.state === 'rejected' && first && isContentOver([first, ...rest])
  return isSpent ? { lane: 'ended', words: 'sent back for good', tone: 'bad' } : standing
}

export type BoardPiece = {
  readonly piece: CampaignPiece
  readonly campaign: Pick<CampaignSeen, 'campaign_id' | 'name'>
  readonly standing: Standing
  /** Its latest moment. */
  readonly at: string
  readonly words?: string
}

export type Board = Readonly<Record<Lane, readonly BoardPiece[]>>

/** Every lane, its latest piece first; what ended badly before what merely did not fit. */
export function boardOf(campaigns: readonly CampaignSeen[]): Board {
  const all = campaigns
    .flatMap((campaign) =>
      campaign.pieces.map((piece): BoardPiece => {
        const last = latestOf(piece.moments)
        const { at = campaign.updated_at, words } = last ?? {}
        return {
          piece,
          campaign,
          standing: standingOf(piece),
          at,
          ...(words !== undefined && { words }),
        }
      }),
    )
    .toSorted((one, other) => weightOf(other) - weightOf(one) || compare(other.at, one.at))
  const lane = (wanted: Lane) => all.filter(({ standing }) => standing.lane === wanted)
  return {
    found: lane('found'),
    making: lane('making'),
    waiting: lane('waiting'),
    published: lane('published'),
    ended: lane('ended'),
  }
}

const weightOf = ({ standing: { lane, tone } }: BoardPiece): number =>
  lane === 'ended' && tone !== 'plain' ? 1 : 0

const compare = (one: string, other: string): number => Date.parse(one) - Date.parse(other)
