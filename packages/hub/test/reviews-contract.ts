/**
 * Campaigns and reviews over HTTP, against real hubs that require authentication: an agent tells of
 * its campaign and lays a text before a person, the person answers, and everybody else is refused.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { createClock } from '@chimera/host/clock'
import { canonicalDigest } from '@chimera/identity/canonical'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { type Asker, createAsker, type Sent } from './asking.ts'
import type { Engine } from './engines.ts'
import { packageOf } from './posts-contract.ts'
import type { Answered, TestHub } from './running.ts'

const real = createClock()
let aheadMs = 0
const clock = { ...real, now: () => real.now() + aheadMs }
const HOUR_MS = 3_600_000

let engine: Engine
let hub: TestHub
let asker: Asker

type Body = Record<string, unknown>
const said = ({ status, body }: Answered) => [status, body.code].join(' ').trim()
const later = (ms: number) => new Date(clock.now() + ms).toISOString()

async function laid(more: Body = {}) {
  const agent = await asker.newAgent()
  const content = packageOf({ confidence_score: 0.6, requires_review: true })
  const body: Body = {
    review_id: randomUUID(),
    agent_id: agent.id,
    content,
    platform: 'twitter',
    confidence: 0.6,
    issues: [{ rule: 'claim', severity: 'warning', message: 'A figure without a source' }],
    sources: [{ url: 'https://news.example/library' }],
    cost: 0.4,
    round: 1,
    expires_at: later(HOUR_MS),
    ...more,
  }
  const opened = await asker.send('/v1/reviews', { key: agent.key, body })
  assert.equal(opened.status, 201, JSON.stringify(opened.body))
  return {
    ...agent,
    body,
    content,
    path: `/v1/reviews/${String(body.review_id)}`,
    opened: opened.body,
  }
}
type Laid = Awaited<ReturnType<typeof laid>>
const answer = ({ path }: Pick<Laid, 'path'>, sent: Sent, body: Body) =>
  asker.send(`${path}/answer`, { ...sent, body })
const yes = ({ content }: Laid, more: Body = {}): Body => ({
  verdict: 'approve',
  content_hash: canonicalDigest(content),
  ...more,
})

const recordOf = (agent: string, more: Body = {}): Body => {
  const at = later(0)
  return {
    campaign_id: randomUUID(),
    agent_id: agent,
    version: 1,
    name: 'Libraries',
    goals: ['People who read'],
    persona: 'Ada',
    status: 'active',
    budget: { total: 5, spent: 0 },
    pieces: [],
    steps: [],
    created_at: at,
    updated_at: at,
    ...more,
  }
}
const tell = (body: Body, sent: Sent) => asker.send('/v1/campaigns', { ...sent, body })

export function reviewsContract(open: () => Engine): void {
  beforeAll(async () => {
    engine = open()
    hub = await engine.start({ auth: 'required', clock })
    asker = createAsker(hub, clock)
  }, 120_000)
  afterAll(async () => {
    await hub?.stop()
    await engine?.end()
  }, 60_000)

  describe('a review', () => {
    test('P-5 is approved for exactly what was shown, and its token publishes it', async () => {
      const one = await laid()
      assert.equal(one.opened.state, 'pending')
      assert.equal(one.opened.content_hash, canonicalDigest(one.content))
      const done = await answer(one, { token: one.token }, yes(one))
      assert.equal(done.status, 200, JSON.stringify(done.body))
      assert.equal(done.body.state, 'approved')

      const mine = await asker.send(one.path, { key: one.key })
      const { approval_token } = mine.body
      assert.equal(
        (await asker.send(one.path, { key: one.key })).body.approval_token,
        approval_token,
      )
      const used = await asker.send('/v1/approvals/uses', {
        key: one.key,
        body: {
          approval_token,
          content_id: one.content.content_id,
          content_sha256: canonicalDigest(one.content),
          platform: 'twitter',
          use_id: 'run-1',
        },
      })
      assert.equal(used.status, 200, JSON.stringify(used.body))
      assert.match(String(used.body.reviewer_id), /^reviewer-/)
    })

    test('P-5 may be edited: the approval is for the text as edited and no other', async () => {
      const one = await laid()
      const content = { ...one.content, captions: 'A free place to meet, by the old harbour.' }
      const done = await answer(one, { token: one.token }, yes(one, { content }))
      assert.equal(done.status, 200, JSON.stringify(done.body))
      const { body } = await asker.send(one.path, { key: one.key })
      assert.deepEqual(body.content, content)
      // Sent again since the answer was lost, it is the same approval; as it was shown, another.
      const again = await answer(one, { token: one.token }, yes(one, { content }))
      assert.equal(again.status, 200, JSON.stringify(again.body))
      const after = await asker.send(one.path, { key: one.key })
      assert.equal(after.body.approval_token, body.approval_token)
      assert.equal(said(await answer(one, { token: one.token }, yes(one))), '409 review_closed')
      const use = (shown: Body, use_id: string) =>
        asker.send('/v1/approvals/uses', {
          key: one.key,
          body: {
            approval_token: body.approval_token,
            content_id: shown.content_id,
            content_sha256: canonicalDigest(shown),
            platform: 'twitter',
            use_id,
          },
        })
      assert.equal(said(await use(one.content, 'other')), '409 approval_mismatched')
      assert.equal((await use(content, 'edited')).status, 200)
    })

    test('SK-16 is rejected with words, and has no token then', async () => {
      const one = await laid()
      const no = {
        verdict: 'reject',
        content_hash: canonicalDigest(one.content),
        words: 'Too loud',
      }
      assert.equal((await answer(one, { token: one.token }, no)).body.state, 'rejected')
      const { body } = await asker.send(one.path, { key: one.key })
      assert.deepEqual([body.words, body.approval_token], ['Too loud', undefined])
      // The same answer again is that answer; another one comes too late.
      assert.equal((await answer(one, { token: one.token }, no)).status, 200)
      assert.equal(said(await answer(one, { token: one.token }, yes(one))), '409 review_closed')
    })

    test('of two answers at once one counts', async () => {
      const one = await laid()
      const content_hash = canonicalDigest(one.content)
      const answers = await Promise.all(
        Array.from({ length: 6 }, (_, at) =>
          answer(one, { token: one.token }, { verdict: 'reject', content_hash, words: `no ${at}` }),
        ),
      )
      const won = answers.filter(({ status }) => status === 200)
      assert.equal(won.length, 1)
      const { body } = await asker.send(one.path, { token: one.token })
      assert.equal(body.words, won[0]?.body.words)
    })

    test('P-5 nobody approves what was not shown, nor too late', async () => {
      const one = await laid()
      const other = yes(one, { content_hash: canonicalDigest({ other: 1 }) })
      assert.equal(said(await answer(one, { token: one.token }, other)), '409 approval_mismatched')
      aheadMs += HOUR_MS
      try {
        const { token } = one
        assert.equal(said(await answer(one, { token }, yes(one))), '409 review_expired')
        const { body } = await asker.send(one.path, { token })
        assert.equal(body.state, 'expired')
      } finally {
        aheadMs -= HOUR_MS
      }
    })

    test('P-5 an agent does not answer its own, nor does another owner see it', async () => {
      const one = await laid()
      assert.equal(said(await answer(one, { key: one.key }, yes(one))), '403 caller_forbidden')
      const stranger = await asker.newAgent()
      assert.equal(
        said(await asker.send(one.path, { token: stranger.token })),
        '404 review_unknown',
      )
      assert.equal(
        said(await answer(one, { token: stranger.token }, yes(one))),
        '404 review_unknown',
      )
      const again = { ...one.body, agent_id: one.id }
      const forged = await asker.send('/v1/reviews', { key: stranger.key, body: again })
      assert.equal(said(forged), '403 caller_forbidden')
    })

    test('laid again it is the same one; with other content under its id it is not', async () => {
      const one = await laid()
      const again = await asker.send('/v1/reviews', { key: one.key, body: one.body })
      assert.equal(again.status, 200)
      const other = {
        ...one.body,
        content: { ...one.content, captions: 'Something else entirely.' },
      }
      const refused = await asker.send('/v1/reviews', { key: one.key, body: other })
      assert.equal(said(refused), '409 key_conflict')
    })

    test('are listed by state, page by page, to their owner', async () => {
      const one = await laid()
      const list = async (query: string) => {
        const { body } = await asker.send(`/v1/reviews${query}`, { token: one.token })
        return (body.reviews as readonly Body[]).map(({ review_id }) => review_id)
      }
      assert.deepEqual(await list(''), [one.body.review_id])
      assert.deepEqual(await list('?state=approved'), [])
      await answer(one, { token: one.token }, yes(one))
      assert.deepEqual(await list(''), [])
      assert.deepEqual(await list('?state=approved&limit=1'), [one.body.review_id])
    })
  })

  describe('a campaign', () => {
    test('SK-16 is told version by version; whoever is behind is refused', async () => {
      const agent = await asker.newAgent()
      const sent = { key: agent.key }
      const first = recordOf(agent.id)
      const path = `/v1/campaigns/${String(first.campaign_id)}`
      assert.equal((await tell(first, sent)).status, 204)
      assert.equal((await tell(first, sent)).status, 204)
      const second = { ...first, version: 2, status: 'paused' }
      assert.equal((await tell(second, sent)).status, 204)
      assert.equal(said(await tell({ ...first, name: 'Other' }, sent)), '409 message_outdated')
      assert.equal(said(await tell({ ...first, version: 4 }, sent)), '409 message_outdated')
      const { body } = await asker.send(path, sent)
      assert.deepEqual([body.version, body.status, body.owner_id], [2, 'paused', agent.owner])
    })

    test('SK-16 put away, it asks nobody any more', async () => {
      const campaign_id = randomUUID()
      const one = await laid({ campaign_id })
      const sent = { key: one.key }
      const open = { ...one.body, review_id: randomUUID() }
      assert.equal((await asker.send('/v1/reviews', { ...sent, body: open })).status, 201)
      assert.equal((await answer(one, { token: one.token }, yes(one))).status, 200)
      const first = recordOf(one.id, { campaign_id })
      assert.equal((await tell(first, sent)).status, 204)
      const over = { ...first, version: 2, status: 'archived' }
      assert.equal((await tell(over, sent)).status, 204)
      assert.equal((await tell(over, sent)).status, 204)
      const other = { ...one, path: `/v1/reviews/${open.review_id}` }
      const states = []
      for (const { path } of [one, other]) {
        states.push((await asker.send(path, { token: one.token })).body.state)
      }
      assert.deepEqual(states, ['approved', 'expired'])
      const { body: ended } = await asker.send(other.path, { token: one.token })
      assert.ok(Date.parse(String(ended.expires_at)) <= clock.now(), 'it says when it ended')
      const late = await answer(other, { token: one.token }, yes(one))
      assert.equal(said(late), '409 review_expired')
      const query = 'topics=audit&kinds=review_withdrawn&limit=100'
      const { body } = await asker.send(`/v1/facts?${query}`, { token: asker.operator })
      const about = (body.facts as readonly object[]).map((each) => JSON.stringify(each))
      assert.equal(about.filter((each) => each.includes(open.review_id)).length, 1)
    })

    test('SK-16 is paused and resumed by its owner, and by nobody else', async () => {
      const agent = await asker.newAgent()
      const first = recordOf(agent.id)
      const path = `/v1/campaigns/${String(first.campaign_id)}`
      await tell(first, { key: agent.key })
      const stranger = await asker.newAgent()
      const wish = (token: string, word: string) =>
        asker.send(`${path}/wish`, { token, body: { wish: word } })
      assert.equal(said(await wish(stranger.token, 'pause')), '404 campaign_unknown')
      assert.equal((await wish(agent.token, 'pause')).body.wish, 'pause')
      await tell({ ...first, version: 2, status: 'paused' }, { key: agent.key })
      assert.equal((await asker.send(path, { key: agent.key })).body.wish, 'pause')
      assert.equal((await wish(agent.token, 'resume')).body.wish, 'resume')
      await tell({ ...first, version: 3 }, { key: agent.key })
      assert.equal((await asker.send(path, { key: agent.key })).body.wish, undefined)
      const taken = recordOf(stranger.id, { campaign_id: first.campaign_id, version: 4 })
      assert.equal(said(await tell(taken, { key: stranger.key })), '404 campaign_unknown')
    })

    test('is listed to its owner, the latest first', async () => {
      const agent = await asker.newAgent()
      const older = recordOf(agent.id, { updated_at: later(-1_000), created_at: later(-1_000) })
      const newer = recordOf(agent.id)
      await tell(older, { key: agent.key })
      await tell(newer, { key: agent.key })
      const page = async (query: string) =>
        (await asker.send(`/v1/campaigns?limit=1${query}`, { token: agent.token })).body
      const first = await page('')
      const ids = ({ campaigns }: Body) =>
        (campaigns as readonly Body[]).map(({ campaign_id }) => campaign_id)
      assert.deepEqual(ids(first), [newer.campaign_id])
      const second = await page(`&after=${String(first.next_after)}`)
      assert.deepEqual([ids(second), second.next_after], [[older.campaign_id], undefined])
      assert.deepEqual(ids(await page('&status=completed')), [])
    })
  })
}
