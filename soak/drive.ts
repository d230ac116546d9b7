/**
 * What goes on during a soak: a campaign every few seconds, hired from outside, and a person who
 * answers what lies before them.
 *
 *   D1  A campaign that fails is written down with its words, and the soak goes on.
 *   D2  It ends when all have ended, or when nothing has ended for so long that nothing will.
 */
import { randomUUID } from 'node:crypto'
import { connect, type Network } from '@chimera/agent'
import type { ReviewSeen } from '@chimera/dialects/chimera'
import { centsOf, writeCents } from '@chimera/dialects/wire'
import type { RunCampaignInput, RunCampaignOutput } from '@chimera/fleet'
import type { Caller } from './caller.ts'
import { answerTo, lotOf, type Said, sayingOf } from './person.ts'

export type Ended = {
  readonly id: string
  readonly task: string
  readonly done?: Done
  /** In words, where it failed. */
  readonly failed?: string
}

/** What is held against the books and the posts, and no more: this process is watched too. */
export type Done = {
  readonly spentCents: number
  /** Content and platform of each piece that was published. */
  readonly published: readonly string[]
}

export type Counts = {
  begun: number
  again: number
  readonly ended: Ended[]
  readonly said: Record<Said, number>
  /** What the person could not say at once: the hub was busy, and is asked again. */
  unsaid: number
}

export type DriveHands = {
  readonly hub: string
  readonly hirer: { readonly owner: string; readonly token: string }
  /** Asks as the owner of the fleet, whose reviews they are. */
  readonly asFleet: Caller
  readonly samples: readonly RunCampaignInput[]
  readonly everyMs: number
}

export type Drive = {
  readonly counts: Counts
  /** No further campaign from now on; resolves when those under way have ended (D2). */
  readonly finish: (patienceMs: number) => Promise<void>
  readonly close: () => Promise<void>
}

const LOOK_MS = 500
const AT_ONCE = 50
/** What is begun on a busy machine faster than it ends would wait, and time out. */
const UNDER_WAY = 3
const TIMES = 3

export function startDrive(hands: DriveHands): Drive {
  const { hub, hirer, asFleet, samples, everyMs } = hands
  const network = connect({ hub, ...hirer })
  const counts: Counts = {
    begun: 0,
    again: 0,
    ended: [],
    said: { approves: 0, edits: 0, rejects: 0 },
    unsaid: 0,
  }

  async function run(id: string, input: RunCampaignInput): Promise<Ended> {
    const task = network.taskOf(id)
    for (let time = 1; ; time += 1) {
      try {
        return { id, task, done: doneOf(await hireFor(network, id, input)) }
      } catch (error) {
        const failed = error instanceof Error ? error.message : String(error)
        if (time === TIMES) return { id, task, failed }
        counts.again += 1
      }
    }
  }

  function begin(): void {
    if (counts.begun - counts.ended.length >= UNDER_WAY) return
    const sample = samples[counts.begun % samples.length]
    if (sample === undefined) throw new Error('there is no sample')
    counts.begun += 1
    const id = randomUUID()
    void run(id, variant(sample, id, counts.begun)).then((ended) => counts.ended.push(ended))
  }

  async function look(): Promise<void> {
    const { reviews } = await asFleet<{ readonly reviews: readonly ReviewSeen[] }>(
      `/v1/reviews?limit=${AT_ONCE}`,
    )
    for (const review of reviews) {
      const said = sayingOf(lotOf(review.review_id))
      await asFleet(`/v1/reviews/${review.review_id}/answer`, answerTo(review, said))
      counts.said[said] += 1
    }
  }

  let looking: Promise<void> | undefined
  const begins = setInterval(begin, everyMs)
  const looks = setInterval(() => {
    looking ??= look()
      .catch(() => {
        counts.unsaid += 1
      })
      .finally(() => {
        looking = undefined
      })
  }, LOOK_MS)
  begin()

  return {
    counts,
    async finish(patienceMs) {
      clearInterval(begins)
      let left = patienceMs
      let before = counts.ended.length
      while (counts.ended.length < counts.begun && left > 0) {
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
        left = counts.ended.length > before ? patienceMs : left - LOOK_MS
        before = counts.ended.length
      }
      clearInterval(looks)
      await looking
    },
    async close() {
      clearInterval(begins)
      clearInterval(looks)
      await looking
      await network.close()
    },
  }
}

async function hireFor(
  network: Network,
  key: string,
  input: RunCampaignInput,
): Promise<RunCampaignOutput> {
  const [agent] = await network.discover('run_campaign')
  if (agent === undefined) throw new Error('nobody runs campaigns')
  const budget = writeCents(agent.skill.priceCents)
  const job = await network.ask(agent, { ...input }, { budget, key, deadline: '1h' })
  const { output } = await job.result()
  return output as RunCampaignOutput
}

const doneOf = ({ spent, pieces }: RunCampaignOutput): Done => ({
  spentCents: centsOf(spent),
  published: pieces.flatMap(({ state, content_id, platform }) =>
    state === 'published' ? [`${content_id} ${platform}`] : [],
  ),
})

/** Few, so that what is remembered of goals is full when it is judged. */
const VARIANTS = 3

/** A campaign of its own, with goals that come again after a while. */
function variant(sample: RunCampaignInput, id: string, number: number): RunCampaignInput {
  const { campaign } = sample
  const goals = [...campaign.goals, `What number ${number % VARIANTS} is about`]
  const name = `${campaign.name} ${number}`
  return { ...sample, campaign: { ...campaign, campaign_id: id, name, goals } }
}
