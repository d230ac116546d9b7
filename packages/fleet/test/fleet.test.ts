/**
 * The fleet on a real hub: six agents that find, hire and pay each other, a person who answers, and
 * a post with a page. Stopped half way, it goes on where it was.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type Network } from '@chimera/agent'
import type { CampaignSeen, ReviewSeen } from '@chimera/dialects/chimera'
import { createClock } from '@chimera/host/clock'
import { type Asker, createAsker } from '@chimera/hub/testing/asking'
import { runHub, type TestHub } from '@chimera/hub/testing/running'
import type { Skill } from '@chimera/skill/contract'
import { openSkills } from '@chimera/skills/providers/open'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { type Fleet, startFleet } from '../src/fleet.ts'
import { ROLES } from '../src/roles.ts'
import { askedFor } from './persona.ts'
import { until } from './until.ts'

const directory = mkdtempSync(join(tmpdir(), 'chimera-fleet-'))
let hub: TestHub
let ask: Asker
let me: Awaited<ReturnType<Asker['newOwner']>>
let network: Network
let skills: readonly Skill[]
let fleet: Fleet
const ends: (() => unknown)[] = []

const startHere = (): Promise<Fleet> =>
  startFleet({
    hub: hub.address,
    owner: me.owner,
    token: me.token,
    directory,
    skills,
    log: 'silent',
  })

beforeAll(async () => {
  hub = await runHub({ auth: 'required', allowNet: ['127.0.0.1'] })
  ask = createAsker(hub, createClock())
  me = await ask.newOwner()
  await ask.send('/accounts', { token: me.token, body: { owner_id: me.owner } })
  const opened = await openSkills(
    { hub: { url: hub.address, token: { env: 'TOKEN' } } },
    { environment: { TOKEN: me.token }, directory: join(directory, 'skills') },
  )
  ends.push(opened.close)
  await opened.warm()
  skills = opened.skills
  fleet = await startHere()
  network = connect({ hub: hub.address, owner: me.owner, token: me.token })
  ends.push(network.close)
}, 120_000)

afterAll(async () => {
  await fleet?.stop()
  for (const end of ends.reverse()) await end()
  await hub?.stop()
  rmSync(directory, { recursive: true, force: true })
}, 60_000)

const pending = (campaign: string) => async (): Promise<ReviewSeen | undefined> => {
  const { body } = await ask.send(`/v1/reviews?campaign_id=${campaign}`, { token: me.token })
  return (body.reviews as readonly ReviewSeen[])[0]
}
const told = async (id: string): Promise<CampaignSeen> =>
  (await ask.send(`/v1/campaigns/${id}`, { token: me.token })).body as unknown as CampaignSeen

/** A campaign of its own for each test: what is asked under one key is asked once. */
function askedAs(id: string) {
  const asked = askedFor({ publish_to: ['twitter'] })
  const goals = ['Public spaces such as parks, pools and libraries']
  return { ...asked, campaign: { ...asked.campaign, campaign_id: id, goals } }
}
async function begin(id: string) {
  const [agent] = await network.discover('run_campaign')
  assert.ok(agent)
  return network.ask(agent, askedAs(id), { budget: 10, key: id, deadline: '20h' })
}

// The sentence embeddings load once, which takes its time on a busy machine.
describe('the fleet', { timeout: 180_000 }, () => {
  test('SK-16 six agents are on the network, each with its skills', async () => {
    assert.deepEqual([...fleet.agents.keys()].sort(), [...ROLES].sort())
    for (const skill of ['fetch_trends', 'generate_content', 'publish_content', 'approve_spend']) {
      assert.equal((await network.discover(skill)).length, 1, skill)
    }
  })

  test('SK-16 P-9 a campaign runs to the approval by itself, is published and paid', async () => {
    const id = '0190a5f0-2a5e-7c11-8f2a-000000000001'
    const job = await begin(id)
    const review = await until(pending(id))
    assert.equal(review.campaign_id, id)
    const orchestrator = fleet.agents.get('orchestrator')
    await until(async () => {
      const { name } = orchestrator?.lifecycle().standing().condition ?? {}
      return name === 'human_review' ? name : undefined
    })
    const answered = await ask.send(`/v1/reviews/${review.review_id}/answer`, {
      token: me.token,
      body: { verdict: 'approve', content_hash: review.content_hash, reviewer_id: 'Ada' },
    })
    assert.equal(answered.status, 200, JSON.stringify(answered.body))
    const { output } = await job.result()
    const [piece] = (output.pieces as readonly { state: string; post_url?: string }[]).filter(
      ({ state }) => state !== 'filtered_out',
    )
    assert.equal(piece?.state, 'published')
    const page = await fetch(piece?.post_url ?? '')
    assert.equal(page.status, 200)
    assert.match(await page.text(), /Ada/)

    const seen = await told(id)
    assert.equal(seen.status, 'completed')
    assert.equal(seen.budget.spent, 0.6)
    // Every step is a movement in the books, and so is the whole.
    const { body } = await ask.send(`/audit?owner_id=${me.owner}&limit=100`, { token: me.token })
    const amounts = (body.transactions as readonly { amount: number }[]).map(({ amount }) => amount)
    assert.deepEqual(
      amounts.toSorted((one, other) => one - other),
      [0.05, 0.1, 0.1, 0.1, 0.25, 10],
    )
  })

  test('SK-16 OC-18 called off while a person thinks, it is over and asks nobody', async () => {
    const id = '0190a5f0-2a5e-7c11-8f2a-000000000003'
    const job = await begin(id)
    const review = await until(pending(id))
    const cancelled = await ask.send(`/v1/work/${job.task}/cancel`, { token: me.token, body: {} })
    assert.equal(cancelled.status, 202, JSON.stringify(cancelled.body))
    await assert.rejects(job.result(), { code: 'work_cancelled' })
    const seen = await until(async () => {
      const { status, steps, pieces } = await told(id)
      return status === 'archived' ? { steps, pieces } : undefined
    })
    const waits = seen.pieces.filter(({ moments }) => moments.at(-1)?.state === 'approval_pending')
    assert.deepEqual(waits, [])
    assert.ok(seen.steps.every(({ state }) => state !== 'running'))
    const late = await ask.send(`/v1/reviews/${review.review_id}/answer`, {
      token: me.token,
      body: { verdict: 'approve', content_hash: review.content_hash },
    })
    assert.equal(late.body.code, 'review_expired')
    const { body } = await ask.send(`/v1/holds?task_id=${job.task}`, { token: me.token })
    assert.deepEqual(
      (body.holds as readonly { state: string }[]).map(({ state }) => state),
      ['released'],
    )
  })

  test('SK-16 stopped while a person thinks, it goes on when back, and posts once', async () => {
    const id = '0190a5f0-2a5e-7c11-8f2a-000000000002'
    await begin(id)
    const review = await until(pending(id))
    await fleet.stop('as if for the night')
    await ask.send(`/v1/reviews/${review.review_id}/answer`, {
      token: me.token,
      body: { verdict: 'approve', content_hash: review.content_hash },
    })
    const before = await told(id)
    fleet = await startHere()
    const after = await until(async () => {
      const seen = await told(id)
      return seen.status === 'completed' ? seen : undefined
    })
    const done = (seen: CampaignSeen) => seen.steps.map(({ step, attempts }) => [step, attempts])
    assert.deepEqual(done(after).slice(0, done(before).length), done(before))
    assert.equal(after.budget.spent, 0.6)
    const { body } = await ask.send('/v1/posts', { token: me.token })
    const posts = (body.posts as readonly { content_id: string }[]).filter(
      ({ content_id }) => content_id === review.content.content_id,
    )
    assert.equal(posts.length, 1)
  })
})
