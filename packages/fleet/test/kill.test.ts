/**
 * Campaigns that live through kills (SIGKILL) of hub and agents at seeded moments, on each engine:
 * they end, and nothing was posted, done or paid twice. What counts the moments is what passes
 * between the processes (dying.js).
 *
 * CHIMERA_CRASH_SEEDS says how many kills; a failure is replayed with SEED=….
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '@chimera/agent'
import type { CampaignSeen } from '@chimera/dialects/chimera'
import { reconcile, verifyChain } from '@chimera/domain/audit'
import { createSeededChance } from '@chimera/host/chance'
import { canonicalDigest } from '@chimera/identity/canonical'
import { describe, test } from 'vitest'
import { PRICES, ROLES, type Role } from '../src/roles.ts'
import type { Doomed } from './doomed.ts'
import type { Run } from './mortal-fleet.ts'
import { embedded, type Ground, type MortalTown, openTown, served } from './mortal-town.ts'
import { askedFor } from './persona.ts'
import { until } from './until.ts'

const SEED = Number(process.env.SEED ?? 1)
const KILLS = Number(process.env.CHIMERA_CRASH_SEEDS ?? 10)
const PLATFORMS = ['twitter', 'instagram'] as const
const PIECES = PLATFORMS.length

/** Those who die, and at which of all that happens to them at the latest. */
type Victims = readonly { readonly who: Doomed; readonly within: number }[]

const ANALYST: Role = 'trend-analyst'
const ENGINES: readonly {
  readonly name: string
  /** Of all kills: the quicker a process starts, the more. */
  readonly share: number
  readonly ground: (home: string) => Promise<Ground>
  readonly people: (town: MortalTown) => Promise<Victims>
}[] = [
  {
    name: 'on the embedded engines, the fleet in one process',
    share: 0.4,
    ground: embedded,
    people: async (town) => {
      const all = { who: await town.startMortal('all', ROLES, false), within: 150 }
      return [all, { who: town.hub, within: 100 }, all]
    },
  },
  {
    name: 'on PostgreSQL and NATS, the roles in three processes',
    share: 0.6,
    ground: served,
    people: async (town) => {
      const apart = ROLES.filter((role) => role !== ANALYST && role !== 'orchestrator')
      const [analyst, others, orchestrator] = await Promise.all([
        town.startMortal(ANALYST, [ANALYST], true),
        town.startVerb('others', apart),
        town.startVerb('orchestrator', ['orchestrator']),
      ])
      const first = { who: orchestrator, within: 60 }
      const hub = { who: town.hub, within: 100 }
      return [{ who: analyst, within: 12 }, first, hub, { who: others, within: 30 }, first, hub]
    },
  },
]

describe(`campaigns that are killed (SEED=${SEED})`, () => {
  for (const [at, { name, share, ground: open, people }] of ENGINES.entries()) {
    const kills = Math.max(1, Math.round(KILLS * share))
    test(`SK-16 P-4 ${name}, ${kills} times`, { timeout: 900_000 }, async () => {
      const home = mkdtempSync(join(tmpdir(), 'chimera-kill-'))
      const ground = await open(home)
      const town = await openTown(home, ground)
      try {
        const victims = await people(town)
        const ids = await liveThrough(town, { victims, kills, seed: SEED * 1_000 + at })
        const seen = []
        for (const id of ids) seen.push(await wholeCampaign(town, id))
        await checkBooks(town, seen)
        checkRuns(town, seen)
        await checkTrail(town)
      } finally {
        await town.end()
        await ground.end()
        rmSync(home, { recursive: true, force: true })
      }
    })
  }
})

/** One campaign after the other, until all kills are done and the last campaign has ended. */
async function liveThrough(
  town: MortalTown,
  {
    victims,
    kills,
    seed,
  }: { readonly victims: Victims; readonly kills: number; readonly seed: number },
): Promise<readonly string[]> {
  const { fraction } = createSeededChance(seed)
  const ids: string[] = []
  const over = new AbortController()
  const killing = (async () => {
    for (let killed = 0; killed < kills; killed += 1) {
      const { who, within } = victims[killed % victims.length] ?? assert.fail('nobody to kill')
      const order = {
        after: 1 + Math.floor(fraction() * within),
        turns: Math.floor(fraction() * 10),
      }
      await who.dieAfter(order)
      await who.start()
    }
    over.abort()
  })()
  // One that does not come back is told at once, and not when all time is over.
  const failed = killing.then(() => new Promise<never>(() => undefined))
  const leave = town.reviewing()
  const { address: hub, hirer } = town
  const network = connect({ hub, ...hirer })
  do {
    const id = `0190a5f0-2a5e-7c11-8f2a-${String(ids.length + 1).padStart(12, '0')}`
    ids.push(id)
    const terms = { budget: PRICES.run_campaign ?? 0, key: id, deadline: '30m' } as const
    const hired = network.hire('run_campaign', askedAs(id), terms)
    const { output } = await Promise.race([hired, failed])
    assert.equal(output.campaign_id, id)
  } while (!over.signal.aborted)
  await killing
  await leave()
  await network.close()
  return ids
}

/** A voice of its own for each, so that no two ask for the same. */
function askedAs(campaign_id: string) {
  const asked = askedFor({ publish_to: [...PLATFORMS] })
  const { content_guidelines: guidelines } = asked.campaign
  const persona = { ...guidelines.persona, bio: `Tells of campaign ${campaign_id}.` }
  const content_guidelines = { ...guidelines, persona }
  const excluded_topics = [campaign_id]
  const trend_filters = { ...asked.campaign.trend_filters, excluded_topics }
  return {
    ...asked,
    campaign: {
      ...asked.campaign,
      campaign_id,
      goals: [`Neighbours hear of ${campaign_id}`],
      trend_filters,
      content_guidelines,
    },
  }
}

/** SK-16: it has ended, each step is done once, and each piece is out once. */
async function wholeCampaign(town: MortalTown, id: string): Promise<CampaignSeen> {
  const seen = (await town.campaign(id)) ?? assert.fail('the campaign is not known')
  assert.equal(seen.status, 'completed')
  const taken = seen.pieces.filter(({ moments }) => moments.at(-1)?.state !== 'filtered_out')
  assert.deepEqual(
    taken.map(({ moments }) => moments.at(-1)?.state),
    Array.from({ length: PIECES }, () => 'published'),
    JSON.stringify(taken.map(({ moments }) => moments.at(-1))),
  )
  assert.equal(new Set(seen.steps.map(({ step }) => step)).size, seen.steps.length)
  assert.equal(seen.steps.length, 2 + 3 * PIECES)
  for (const { step, skill, state, cost } of seen.steps) {
    assert.deepEqual([state, cost], ['done', PRICES[skill]], step)
  }
  const { body } = await town.ask('/v1/posts', town.fleet.token)
  const posts = (body.posts as readonly { content_id: string }[]).map((each) => each.content_id)
  for (const { content_id = '' } of taken) {
    assert.equal(posts.filter((each) => each === content_id).length, 1, 'posted once')
  }
  return seen
}

const sumOf = (amounts: readonly number[]): number =>
  amounts.reduce((sum, amount) => sum + Math.round(amount * 100), 0) / 100

/** Nothing was paid twice, and nothing is put aside or taken any more. */
async function checkBooks(town: MortalTown, campaigns: readonly CampaignSeen[]): Promise<void> {
  let books: Readonly<Record<string, unknown>> = {}
  await until(
    async () => {
      books = (await town.ask('/v1/books', town.hirer.token)).body
      return books.standing_holds === 0 ? true : undefined
    },
    () => JSON.stringify(books),
  )
  const spent = campaigns.map(({ budget }) => budget.spent)
  const price = PRICES.run_campaign ?? 0
  const steps = campaigns.flatMap((each) => each.steps)
  assert.deepEqual([books.balanced, books.in_holds], [true, 0])
  assert.equal(books.volume, sumOf([...spent, ...campaigns.map(() => price)]))
  assert.equal(books.payments, campaigns.length + steps.length)
  for (const [owner, sign] of [
    [town.hirer, -1],
    [town.fleet, 1],
  ] as const) {
    const { body } = await town.ask(`/accounts/${owner.owner}`, owner.token)
    assert.equal(body.balance, 100 + sign * price * campaigns.length, owner.owner)
  }
  let found: readonly Instance[] = []
  await until(
    async () => {
      const { body } = await town.ask('/moltbook/v1/directory', town.fleet.token)
      found = livingOf(body.instances as readonly Instance[])
      const free = found.every(({ capacity }) => capacity.slots_free === capacity.slots_total)
      return free && found.length === ROLES.length ? free : undefined
    },
    () => JSON.stringify(found),
  )
}

type Instance = {
  readonly agent_id: string
  readonly last_seen: string
  readonly capacity: { readonly slots_free: number; readonly slots_total: number }
}

/** The dead are listed until they are forgotten, with the slots that they had. */
function livingOf(all: readonly Instance[]): readonly Instance[] {
  const inOrder = all.toSorted((one, other) => (one.last_seen < other.last_seen ? -1 : 1))
  return [...new Map(inOrder.map((each) => [each.agent_id, each])).values()]
}

/** What was finished by its record did not run once more. */
function checkRuns(town: MortalTown, campaigns: readonly CampaignSeen[]): void {
  const runs = readFileSync(town.runs, 'utf8')
    .split('\n')
    .flatMap((line): readonly Run[] => (line === '' ? [] : [JSON.parse(line)]))
  const steps = campaigns.flatMap((each) => each.steps)
  for (const skill of new Set(steps.map((each) => each.skill))) {
    const ofIt = runs.filter((run) => run.skill === skill)
    if (ofIt.length === 0) continue
    const ends = steps.filter((each) => each.skill === skill).map((each) => each.ended_at ?? '')
    // Steps follow each other, so the n-th that ran is the n-th that ended.
    const inputs = [...new Set(ofIt.map(({ input }) => input))]
    for (const [index, input] of inputs.entries()) {
      const last = ofIt.findLast((run) => run.input === input)?.at ?? 0
      const end = Date.parse(ends.toSorted()[index] ?? '')
      assert.ok(last <= end, `${skill} ran again ${last - end} ms after its end`)
    }
  }
}

/** The chain holds, and the books follow from it to the hundredth. */
async function checkTrail(town: MortalTown): Promise<void> {
  const rows = await town.trail()
  const verified = verifyChain(rows, canonicalDigest)
  assert.ok(verified.ok, JSON.stringify(verified))
  const { balances, faults } = reconcile(rows, new Map())
  assert.deepEqual(faults, [])
  const open = [...balances].filter(([side, cents]) => side.startsWith('hold:') && cents !== 0)
  assert.deepEqual(open, [])
}
