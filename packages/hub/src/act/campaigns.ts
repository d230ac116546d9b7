/**
 * Campaigns: told by the orchestrators that run them, seen and steered by their owners.
 *
 *   K1  An agent tells of its own campaigns; its owner's token speaks for it.
 *   K2  To everybody but its owner and an operator a campaign is not there.
 *   K3  A campaign that is archived asks nobody any more: its reviews are over with it.
 */
import type {
  CampaignRecord,
  CampaignShown,
  CampaignsWanted,
  CampaignTold,
} from '@chimera/dialects/chimera'
import { isUuid } from '@chimera/dialects/wire'
import { type Refused, refuse } from '@chimera/domain/decision'
import type { AgentId, CampaignId, CorrelationId } from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'
import type { KeptCampaign } from '../ports/campaigns.ts'
import { ownerFor } from './approvals.ts'
import { type Caller, isOperator, permit, permitAgent, permitOwner } from './caller.ts'
import { findAgent } from './control.ts'
import type { Hub } from './hub.ts'

type Answer<Content> = ({ readonly ok: true } & Content) | Refused<Refusal>

/** K1. The owner is the agent's, whoever asks. */
export async function ownerOfAgent(hub: Hub, caller: Caller, id: AgentId) {
  const agent = await findAgent(hub, id)
  if (agent === undefined) return refuse('agent_unknown')
  const { owner } = agent
  const permitted = permitAgent(caller, { id, owner })
  return permitted.ok ? { ok: true as const, owner } : permitted
}

export async function tellCampaign(
  hub: Hub,
  caller: Caller,
  { correlation, ...told }: CampaignTold & { readonly correlation: CorrelationId },
): Promise<{ readonly ok: true } | Refused<Refusal>> {
  const owned = await ownerOfAgent(hub, caller, told.agent)
  if (!owned.ok) return owned
  const { owner } = owned
  const decision = await hub.keep.campaigns.tell({ ...told, owner })
  if (!decision.ok) return decision
  if (told.status === 'archived') {
    const withdrawn = { campaign: told.id, owner, by: `agent:${told.agent}` }
    await hub.keep.reviews.withdraw(withdrawn, correlation)
  }
  return { ok: true }
}

export async function showCampaign(
  hub: Hub,
  caller: Caller,
  id: string,
): Promise<Answer<{ readonly campaign: CampaignShown }>> {
  const permitted = permit(caller, 'read')
  if (!permitted.ok) return permitted
  const kept = isUuid(id)
    ? await hub.keep.campaigns.find(id.toLowerCase() as CampaignId)
    : undefined
  // K2.
  const mine = kept !== undefined && (kept.owner === caller.owner || isOperator(caller))
  return mine ? { ok: true, campaign: shownOf(kept) } : refuse('campaign_unknown')
}

export async function listCampaigns(
  hub: Hub,
  caller: Caller,
  { after, limit, ...wanted }: CampaignsWanted,
): Promise<
  Answer<{
    readonly campaigns: readonly CampaignShown[]
    readonly next?: { readonly at: number; readonly id: string }
  }>
> {
  const owner = ownerFor(caller, undefined)
  if (!owner.ok) return owner
  const found = await hub.keep.campaigns.list({
    ...wanted,
    owner: owner.owner,
    limit: limit + 1,
    ...(after && { before: after }),
  })
  const page = found.slice(0, limit)
  const last = found.length > limit ? page.at(-1) : undefined
  const next = last && { at: last.updatedAt, id: last.id }
  return { ok: true, campaigns: page.map(shownOf), ...(next && { next }) }
}

export async function wishOfCampaign(
  hub: Hub,
  caller: Caller,
  { id, wish }: { readonly id: string; readonly wish: 'pause' | 'resume' },
): Promise<Answer<{ readonly campaign: CampaignShown }>> {
  const seen = await showCampaign(hub, caller, id)
  if (!seen.ok) return seen
  const kept = await hub.keep.campaigns.find(id.toLowerCase() as CampaignId)
  if (kept === undefined) return refuse('campaign_unknown')
  const permitted = permitOwner(caller, 'agents', kept.owner)
  if (!permitted.ok) return permitted
  const done = await hub.keep.campaigns.wish(kept.id, kept.owner, wish)
  return done ? showCampaign(hub, caller, id) : refuse('campaign_unknown')
}

/** What is kept was read by the schema when it came. */
const shownOf = ({ record, owner, agent, wish }: KeptCampaign): CampaignShown => ({
  record: record as CampaignRecord,
  owner,
  agent,
  ...(wish && { wish }),
})
