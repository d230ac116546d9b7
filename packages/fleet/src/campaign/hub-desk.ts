/**
 * Campaigns and reviews at the hub, where people and the rest of the fleet look at them. The
 * owner's token speaks for its orchestrator.
 *
 *   H1  A record that the hub has in a later version is somebody else's campaign by now: the run
 *       ends, and whoever has it goes on.
 *   H2  A hub that does not answer is asked again by the client's own plan; after that the step
 *       fails, and the work is taken up again where it was.
 */

import type { HubAnswer, HubClient } from '@chimera/agent/hub/client'
import { type CampaignSeen, readCampaignSeen, readReviewSeen } from '@chimera/dialects/chimera'
import type { CampaignDesk } from './desk.ts'

export class DeskFailure extends Error {
  override readonly name = 'DeskFailure'
}

export type HubDeskHands = {
  readonly hub: Pick<HubClient, 'get' | 'post'>
  /** The orchestrator, once it knows who it is. */
  readonly agent: () => string
}

export function createHubDesk({ hub, agent }: HubDeskHands): CampaignDesk {
  return {
    async load(id, signal) {
      const answer = await hub.get(`/v1/campaigns/${id}`, { signal })
      if (isUnknown(answer)) return undefined
      const read = readCampaignSeen(bodyOf(answer))
      if (!read.ok) throw new DeskFailure('the hub told of a campaign that is none')
      const { wish } = read.value
      return { record: recordOf(read.value), ...(wish && { wish }) }
    },
    async save(record, signal) {
      const told = { ...record, agent_id: agent() }
      bodyOf(await hub.post('/v1/campaigns', told, { signal, repeatable: true }))
    },
    async open(review, signal) {
      const told = { ...review, agent_id: agent() }
      bodyOf(await hub.post('/v1/reviews', told, { signal, repeatable: true }))
    },
    async review(id, signal) {
      const answer = await hub.get(`/v1/reviews/${id}`, { signal })
      if (isUnknown(answer)) return undefined
      const read = readReviewSeen(bodyOf(answer))
      if (!read.ok) throw new DeskFailure('the hub told of a review that is none')
      return read.value
    },
  }
}

const isUnknown = (answer: HubAnswer): boolean =>
  !answer.ok && answer.kind === 'refused' && answer.status === 404

function bodyOf(answer: HubAnswer): unknown {
  if (answer.ok) return answer.body
  throw new DeskFailure(answer.kind === 'refused' ? answer.sentence : answer.detail)
}

/** As it was told: what the hub adds is the hub's. */
function recordOf({ owner_id: _owner, agent_id: _agent, wish: _wish, ...record }: CampaignSeen) {
  return record
}
