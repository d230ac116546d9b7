/**
 * Campaigns and reviews at the hub, where people and the rest of the fleet look at them. The
 * owner's token speaks for its orchestrator.
 *
 *   H1  A record that the hub has in a later version is somebody else's campaign by now: the run
 *       ends, and whoever has it goes on.
 *   H2  A hub that does not answer is waited for, as long as the campaign itself may last: nothing
 *       goes on without what it keeps.
 */
import type { HubAnswer, HubClient } from '@chimera/agent/hub/client'
import { type CampaignSeen, readCampaignSeen, readReviewSeen } from '@chimera/dialects/chimera'
import type { CampaignDesk } from './desk.ts'
import { waitMs } from './patience.ts'

export class DeskFailure extends Error {
  override readonly name = 'DeskFailure'
}

export type HubDeskHands = {
  readonly hub: Pick<HubClient, 'get' | 'post'>
  /** The orchestrator, once it knows who it is: campaigns go on while it still starts. */
  readonly agent: Promise<string>
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
}

export function createHubDesk({ hub, agent, sleep }: HubDeskHands): CampaignDesk {
  /** H2. */
  async function answered(ask: () => Promise<HubAnswer>, signal: AbortSignal): Promise<HubAnswer> {
    for (let failures = 1; ; failures += 1) {
      const answer = await ask()
      signal.throwIfAborted()
      if (!isAway(answer)) return answer
      await sleep(waitMs(failures), signal)
    }
  }
  const get = (path: string, signal: AbortSignal) =>
    answered(() => hub.get(path, { signal }), signal)
  const post = (path: string, body: object, signal: AbortSignal) =>
    answered(() => hub.post(path, body, { signal, repeatable: true }), signal)

  return {
    async load(id, signal) {
      const answer = await get(`/v1/campaigns/${id}`, signal)
      if (isUnknown(answer)) return undefined
      const read = readCampaignSeen(bodyOf(answer))
      if (!read.ok) throw new DeskFailure('the hub told of a campaign that is none')
      const { wish } = read.value
      return { record: recordOf(read.value), ...(wish && { wish }) }
    },
    async save(record, signal) {
      bodyOf(await post('/v1/campaigns', { ...record, agent_id: await agent }, signal))
    },
    async open(review, signal) {
      bodyOf(await post('/v1/reviews', { ...review, agent_id: await agent }, signal))
    },
    async review(id, signal) {
      const answer = await get(`/v1/reviews/${id}`, signal)
      if (isUnknown(answer)) return undefined
      const read = readReviewSeen(bodyOf(answer))
      if (!read.ok) throw new DeskFailure('the hub told of a review that is none')
      return read.value
    },
  }
}

const isAway = (answer: HubAnswer): boolean =>
  !answer.ok && (answer.kind === 'unanswered' || answer.retryable)

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
