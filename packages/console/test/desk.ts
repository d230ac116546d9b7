/** A hub that asks who one is, and an owner whose agent runs campaigns and lays texts before it. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { createAgent } from '@chimera/agent'
import type { CampaignSeen, ReviewSeen, ReviewWanted } from '@chimera/dialects/chimera'
import type { ContentPackage } from '@chimera/dialects/skills/content'
import { type Answered, runHub, type TestHub } from '@chimera/hub/testing/running'
import { countWords } from './world.ts'

const HOUR_MS = 3_600_000
const later = (ms: number) => new Date(Date.now() + ms).toISOString()

export type Desk = {
  readonly hub: TestHub
  readonly owner: string
  readonly token: string
  readonly send: (path: string, body?: object, token?: string) => Promise<Answered>
  /** Lays a text before the owner. */
  readonly lay: (
    content: Partial<ContentPackage>,
    more?: Partial<ReviewWanted>,
  ) => Promise<ReviewSeen>
  readonly tell: (record: Partial<CampaignSeen>) => Promise<string>
  readonly show: (review: ReviewSeen) => Promise<ReviewSeen>
  readonly stop: () => Promise<void>
}

export async function openDesk(page: string, owner = 'harbour-news'): Promise<Desk> {
  const hub = await runHub({ auth: 'required', allowNet: ['127.0.0.1'], page })
  const operator = hub.firstOperatorToken ?? ''
  const call = (path: string, token: string, body?: object) =>
    hub.call(path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
  const made = await call('/v1/owners', operator, { owner_id: owner })
  const token = String(made.body.token)
  const send: Desk['send'] = (path, body, as = token) => call(path, as, body)
  const orchestrator = createAgent({
    name: 'Orchestrator',
    owner,
    token,
    hub: hub.address,
    skills: [countWords],
    directory: false,
    signals: false,
    log: 'silent',
  })
  await orchestrator.start()
  const agent = orchestrator.id()

  const told = async (path: string, body: object, wanted: number) => {
    const { status, body: answer } = await send(path, body)
    assert.equal(status, wanted, JSON.stringify(answer))
    return answer
  }
  return {
    hub,
    owner,
    token,
    send,
    async lay(content, more = {}) {
      const answer = await told(
        '/v1/reviews',
        {
          review_id: randomUUID(),
          agent_id: agent,
          content: contentOf(content),
          platform: 'twitter',
          confidence: 0.62,
          issues: [],
          sources: [],
          cost: 0.42,
          round: 1,
          expires_at: later(12 * HOUR_MS),
          ...more,
        },
        201,
      )
      return answer as unknown as ReviewSeen
    },
    async tell(record) {
      const at = later(0)
      const id = record.campaign_id ?? randomUUID()
      const whole = {
        campaign_id: id,
        agent_id: agent,
        version: 1,
        name: 'Town square',
        goals: ['Neighbours hear of libraries, gardens and public life in their town'],
        persona: 'Harbour voice',
        status: 'active',
        budget: { total: 5, spent: 0 },
        pieces: [],
        steps: [],
        created_at: at,
        updated_at: at,
        ...record,
      }
      await told('/v1/campaigns', whole, 204)
      return id
    },
    async show({ review_id }) {
      const { body } = await send(`/v1/reviews/${review_id}`)
      return body as unknown as ReviewSeen
    },
    async stop() {
      await orchestrator.stop()
      await hub.stop()
    },
  }
}

const contentOf = (more: Partial<ContentPackage> = {}): ContentPackage => ({
  content_id: randomUUID(),
  task_id: randomUUID(),
  trend_ref: randomUUID(),
  script: 'Our harbour gets a library, with reading rooms, a cinema and space to build things.',
  captions: 'A free place to meet is coming to the old warehouses.',
  media_urls: [],
  hashtags: ['#harbour', '#library', '#reading'],
  confidence_score: 0.62,
  requires_review: true,
  ...more,
})
