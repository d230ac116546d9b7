/** Approvals, posts and planned publications: each once, whoever asks at the same time. */
import assert from 'node:assert/strict'
import type { KeptApproval, Publication } from '@chimera/domain/approval'
import type {
  ApprovalId,
  ContentId,
  CorrelationId,
  Digest,
  OwnerId,
  PostId,
  ReviewerId,
} from '@chimera/domain/ids'
import { describe, test } from 'vitest'
import { createApprovals } from '../src/approvals.ts'
import type { Database } from '../src/engine/database.ts'
import { createPosts } from '../src/posts.ts'
import { createPlanned } from '../src/posts-planned.ts'
import type { Stage } from './contract.ts'
import { createHands, START } from './hands.ts'

const HOUR_MS = 3_600_000
const correlation = 'trace' as CorrelationId
const owner = 'own "\n\\' as OwnerId
const publication: Publication = {
  content: 'c1' as ContentId,
  bytes: 'cafe' as Digest,
  platform: 'twitter',
  scheduledAt: START + HOUR_MS,
}
const approvalOf = (id: string, more: Partial<KeptApproval> = {}): KeptApproval => ({
  id: id as ApprovalId,
  owner,
  by: 'token:1',
  reviewer: 'ada' as ReviewerId,
  publication,
  approvedAt: START,
  expiresAt: START + HOUR_MS,
  ...more,
})
const sign = ({ id }: KeptApproval, used_at: number) => ({ approval_id: id, used_at })
const useOf = (id: string, use: string, more: object = {}) => ({
  id: id as ApprovalId,
  owner,
  publication,
  use,
  by: 'agent:1',
  ...more,
})
const factsOf = async (database: Database, type: string) =>
  database.query<{ fact: object }>(
    `SELECT fact FROM facts WHERE fact->>'type' = '${type}' ORDER BY id`,
    [],
  )

export function postsContract({ fresh }: Stage): void {
  describe('approvals and posts', () => {
    test('P-5 an approval is used once, with one receipt and one fact', async () => {
      const { database } = await fresh()
      const hands = createHands()
      const approvals = createApprovals({ database, ...hands })
      const given = approvalOf('y1')
      await approvals.give(given, correlation)
      assert.deepEqual(await approvals.find(given.id), { approval: given })

      const uses = Array.from({ length: 8 }, (_, at) =>
        approvals.use(useOf('y1', `u${at % 4}`), sign, correlation),
      )
      const ended = await Promise.all(uses)
      const won = ended.filter(({ decision }) => decision.ok)
      const name = won[0]?.entry?.approval.use
      assert.equal(won.length, 2, 'both of one name, and nobody else')
      for (const { decision } of ended) {
        assert.ok(decision.ok || decision.refusal === 'approval_used')
      }
      hands.setNow(START + 3 * HOUR_MS)
      const again = await approvals.use(useOf('y1', name ?? ''), sign, correlation)
      assert.deepEqual(again.entry?.receipt, { approval_id: 'y1', used_at: START })
      assert.deepEqual(again.decision, { ok: true, facts: [] })
      const facts = await factsOf(database, 'approval_used')
      assert.deepEqual(
        facts.map(({ fact }) => fact),
        [
          {
            type: 'approval_used',
            id: 'y1',
            at: START,
            reviewer: 'ada',
            publication,
            by: 'agent:1',
            owner,
          },
        ],
      )
      assert.equal((await factsOf(database, 'publication_approved')).length, 1)
    })

    test('P-5 what does not fit leaves an approval as it was', async () => {
      const { database } = await fresh()
      const hands = createHands()
      const approvals = createApprovals({ database, ...hands })
      await approvals.give(approvalOf('y1'), correlation)
      const said = async (more: object, id = 'y1') => {
        const { decision } = await approvals.use(useOf(id, 'u', more), sign, correlation)
        return decision.ok ? 'used' : decision.refusal
      }
      const edited = { ...publication, bytes: 'beef' as Digest }
      assert.equal(await said({ publication: edited }), 'approval_mismatched')
      assert.equal(await said({ owner: 'eve' }), 'approval_invalid')
      assert.equal(await said({}, 'y2'), 'approval_invalid')
      hands.setNow(START + HOUR_MS)
      assert.equal(await said({}), 'approval_expired')
      assert.equal((await approvals.find('y1' as ApprovalId))?.approval.usedAt, undefined)
      hands.setNow(START + 1)
      assert.equal(await said({}), 'used')
    })

    test('the approvals of an owner, the latest first, page by page', async () => {
      const { database } = await fresh()
      const approvals = createApprovals({ database, ...createHands() })
      for (const [at, id] of ['a', 'b', 'c'].entries()) {
        const approvedAt = START + Math.floor(at / 2)
        await approvals.give(approvalOf(id, { approvedAt }), correlation)
      }
      const ids = async (query: object) =>
        (await approvals.list({ owner, limit: 9, ...query })).map(({ approval }) => approval.id)
      assert.deepEqual(await ids({}), ['c', 'b', 'a'])
      const before = { approvedAt: START, id: 'b' as ApprovalId }
      assert.deepEqual(await ids({ before }), ['a'])
      assert.deepEqual(await ids({ owner: 'eve' }), [])
    })

    test('SK-10 one post for each content and platform, with one fact', async () => {
      const { database } = await fresh()
      const hands = createHands()
      const approvals = createApprovals({ database, ...hands })
      const posts = createPosts({ database, ...hands })
      await approvals.give(approvalOf('y1'), correlation)
      const post = (id: string, text: string) =>
        posts.accept(
          {
            id: id as PostId,
            owner,
            publication,
            approval: 'y1' as ApprovalId,
            by: 'agent:1',
          },
          { text },
          correlation,
        )
      const early = await post('p0', 'early')
      assert.ok(!early.decision.ok && early.decision.refusal === 'approval_unused')
      await approvals.use(useOf('y1', 'u'), sign, correlation)
      const nasty = 'Zero \u0000 and half \ud800'
      const made = await Promise.all(['p1', 'p2', 'p3', 'p4'].map((id) => post(id, nasty)))
      const ids = new Set(made.map(({ kept }) => kept?.post.id))
      assert.equal(ids.size, 1)
      const [id] = ids
      const kept = await posts.find(id as PostId)
      assert.deepEqual(kept, made[0]?.kept)
      assert.deepEqual(kept?.shown, { text: nasty })
      const again = await post('p9', 'edited since')
      assert.deepEqual(again.kept, kept)
      assert.equal((await factsOf(database, 'post_accepted')).length, 1)
      assert.equal(await posts.find('none' as PostId), undefined)
    })

    test('posts are listed by when they are out', async () => {
      const { database } = await fresh()
      const hands = createHands()
      const approvals = createApprovals({ database, ...hands })
      const posts = createPosts({ database, ...hands })
      for (const [at, name] of ['a', 'b', 'c'].entries()) {
        const what: Publication = {
          content: name as ContentId,
          bytes: 'cafe' as Digest,
          platform: name === 'c' ? 'tiktok' : 'twitter',
          ...(name === 'b' && { scheduledAt: START + HOUR_MS }),
        }
        await approvals.give(approvalOf(`y-${name}`, { publication: what }), correlation)
        hands.setNow(START + at)
        await approvals.use(useOf(`y-${name}`, 'u', { publication: what }), sign, correlation)
        const asked = { id: `p-${name}` as PostId, owner, publication: what, by: 'agent:1' }
        const approval = `y-${name}` as ApprovalId
        const { decision } = await posts.accept({ ...asked, approval }, {}, correlation)
        assert.ok(decision.ok)
      }
      const ids = async (query: object) =>
        (await posts.list({ limit: 9, ...query })).map(({ post }) => post.id)
      assert.deepEqual(await ids({ owner }), ['p-b', 'p-c', 'p-a'])
      assert.deepEqual(await ids({ outBy: START + 5 }), ['p-c', 'p-a'])
      assert.deepEqual(await ids({ outBy: START + HOUR_MS }), ['p-b', 'p-c', 'p-a'])
      assert.deepEqual(await ids({ owner, platform: 'tiktok' }), ['p-c'])
      assert.deepEqual(await ids({ owner, content: 'a' }), ['p-a'])
      assert.deepEqual(await ids({ owner: 'eve' }), [])
      const before = { outAt: START + 2, id: 'p-c' as PostId }
      assert.deepEqual(await ids({ owner, before }), ['p-a'])
    })
  })

  describe('planned publications', () => {
    test('SK-10 one record for each key, changed by one of many', async () => {
      const { database } = await fresh()
      const plan = createPlanned<{ readonly text: string }>({ database, planner: 'a' })
      const other = createPlanned<{ readonly text: string }>({ database, planner: 'b' })
      const kept = { text: 'Zero \u0000 and half \ud800' }
      const added = await Promise.all(
        Array.from({ length: 6 }, () => plan.add({ key: 'k', wakeAt: START, kept })),
      )
      for (const each of added) assert.deepEqual(each, added[0])
      assert.deepEqual(added[0], { key: 'k', version: 1, wakeAt: START, kept })
      assert.equal(await other.find('k'), undefined)
      const changed = await Promise.all(
        ['x', 'y', 'z'].map((text) => plan.change({ key: 'k', version: 1, kept: { text } })),
      )
      const won = changed.filter((each) => each !== undefined)
      assert.equal(won.length, 1)
      assert.equal(won[0]?.version, 2)
      assert.deepEqual(await plan.find('k'), won[0])
    })

    test('what is due is found at its time, and not when it is over', async () => {
      const { database } = await fresh()
      const plan = createPlanned<object>({ database, planner: 'a' })
      for (const [at, key] of ['a', 'b', 'c'].entries()) {
        await plan.add({ key, wakeAt: START + at, kept: {} })
      }
      await plan.add({ key: 'over', kept: {} })
      const keys = async (now: number, limit = 9) =>
        (await plan.due(now, limit)).map(({ key }) => key)
      assert.deepEqual(await keys(START - 1), [])
      assert.deepEqual(await keys(START + 1), ['a', 'b'])
      assert.deepEqual(await keys(START + 9, 2), ['a', 'b'])
      await plan.change({ key: 'a', version: 1, kept: {} })
      assert.deepEqual(await keys(START + 9), ['b', 'c'])
    })
  })
}
