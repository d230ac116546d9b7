/**
 * Campaigns as their orchestrators tell of them.
 *
 *   K1  Of two who tell the same version one is first, whichever hub they ask; the other is behind.
 *   K2  A campaign stays with the owner that told of it first.
 *   K3  What a person wants of it stands until the orchestrator's next record says that it is so.
 */
import { accept, type Decision, refuse } from '@chimera/domain/decision'
import type { AgentId, CampaignId, Instant, OwnerId } from '@chimera/domain/ids'
import type { Database } from './engine/database.ts'
import { isStorable } from './storable.ts'

export type CampaignWish = 'pause' | 'resume'

export type CampaignTold = {
  readonly id: CampaignId
  readonly owner: OwnerId
  readonly agent: AgentId
  readonly version: number
  readonly status: string
  readonly updatedAt: Instant
  readonly record: object
}

export type KeptCampaign = CampaignTold & { readonly wish?: CampaignWish }

export type CampaignQuery = {
  readonly owner: OwnerId
  readonly status?: string
  readonly before?: { readonly at: Instant; readonly id: string }
  readonly limit: number
}

export type Campaigns = {
  /** The same version again is the same telling. */
  readonly tell: (
    told: CampaignTold,
  ) => Promise<Decision<never, 'message_outdated' | 'campaign_unknown' | 'message_malformed'>>
  readonly wish: (id: CampaignId, owner: OwnerId, wish: CampaignWish) => Promise<boolean>
  readonly find: (id: CampaignId) => Promise<KeptCampaign | undefined>
  /** The latest first. */
  readonly list: (query: CampaignQuery) => Promise<readonly KeptCampaign[]>
}

type CampaignRow = {
  readonly id: CampaignId
  readonly owner: OwnerId
  readonly agent: AgentId
  readonly version: number
  readonly status: string
  readonly updated_at: Instant
  readonly record: object
  readonly wish: CampaignWish | null
}

/** K3: a paused campaign has followed the wish to pause, and one that runs the other. */
const TELL = `
  INSERT INTO campaigns (id, owner, agent, version, status, updated_at, record)
  VALUES ($1, $2, $3, $4, $5, $6, $7)
  ON CONFLICT (id) DO UPDATE SET
    agent = excluded.agent, version = excluded.version, status = excluded.status,
    updated_at = excluded.updated_at, record = excluded.record,
    wish = CASE
      WHEN campaigns.wish = 'resume' AND excluded.status <> 'paused' THEN NULL
      ELSE campaigns.wish END
  WHERE campaigns.owner = excluded.owner AND campaigns.version = excluded.version - 1
  RETURNING id`

const LIST = `
  SELECT * FROM campaigns
  WHERE owner = $1 AND ($2::text IS NULL OR status = $2)
    AND ($3::bigint IS NULL OR (updated_at, id) < ($3, $4))
  ORDER BY updated_at DESC, id DESC LIMIT $5`

export function createCampaigns({ database }: { readonly database: Database }): Campaigns {
  async function find(id: CampaignId): Promise<KeptCampaign | undefined> {
    if (!isStorable(id)) return undefined
    const rows = await database.query<CampaignRow>('SELECT * FROM campaigns WHERE id = $1', [id])
    return rows.map(campaignOf)[0]
  }

  return {
    async tell(told) {
      const { id, owner, agent, version, status, updatedAt } = told
      const record = JSON.stringify(told.record)
      if (!isStorable([owner, record])) return refuse('message_malformed')
      const params = [id, owner, agent, version, status, updatedAt, record]
      const [written] = await database.query<{ id: string }>(TELL, params)
      if (written !== undefined) return accept()
      const known = await find(id)
      if (known?.owner !== owner) return refuse('campaign_unknown')
      const isSame = known.version === version && JSON.stringify(known.record) === record
      return isSame ? accept() : refuse('message_outdated')
    },
    async wish(id, owner, wish) {
      if (!isStorable([id, owner])) return false
      const done = await database.query<{ id: string }>(
        'UPDATE campaigns SET wish = $3 WHERE id = $1 AND owner = $2 RETURNING id',
        [id, owner, wish],
      )
      return done.length > 0
    },
    find,
    async list({ owner, status, before, limit }) {
      if (!isStorable(owner)) return []
      const params = [owner, status ?? null, before?.at ?? null, before?.id ?? null, limit]
      return (await database.query<CampaignRow>(LIST, params)).map(campaignOf)
    },
  }
}

function campaignOf(row: CampaignRow): KeptCampaign {
  const { id, owner, agent, version, status, updated_at: updatedAt, record, wish } = row
  const kept = { id, owner, agent, version, status, updatedAt, record }
  return wish === null ? kept : { ...kept, wish }
}
