/**
 * The whole fleet on a real hub, in one process, under a clock that is moved by hand: what its
 * agents say is written down, with the time by that clock, and so is what the status feed receives.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMemoryKeep } from '@chimera/agent/work/memory-keep'
import type { TrendData } from '@chimera/dialects/skills/trend'
import { createHarness, type Harness } from '@chimera/harness'
import { createIngestion } from '@chimera/harness/ingestion'
import { createSeededChance } from '@chimera/host/chance'
import { createMemoryAnswers } from '@chimera/skill/answers'
import type { Skill } from '@chimera/skill/contract'
import { fetchTrends } from '@chimera/skills/fetch-trends'
import { openSkills } from '@chimera/skills/providers/open'
import { semanticFilter } from '@chimera/skills/semantic-filter'
import { createSamples } from '@chimera/skills/trends/samples'
import { createDirectories } from '@chimera/store/testing/embedded'
import { startFleet } from '../src/fleet.ts'

export type Body = Readonly<Record<string, unknown>>
/** Something that was asked of somebody: when, and when and how it was answered. */
export type Said = {
  readonly at: number
  readonly origin: string
  readonly path: string
  readonly body: Body
  answeredAt?: number
  status?: number
}

export type TimedFleet = Awaited<ReturnType<typeof openTimedFleet>>

export async function openTimedFleet() {
  const directories = createDirectories()
  const home = await mkdtemp(join(tmpdir(), 'chimera-timed-'))
  const net = await createHarness({
    data: await directories.newMigrated(),
    // Of real time: nothing here waits for anything but the clock for longer.
    patience: '30ms',
  })
  const { clock } = net
  const ear = listen(clock.now)
  const feed = await createIngestion({ now: clock.now })
  const owner = await net.hirer('fleet')
  const hirer = await net.hirer('ada', { credits: 1_000 })
  const { skills, close } = await skillsOn(net, owner.token, home)
  const from = clock.now()
  const starting = startFleet({
    hub: net.hub,
    owner: owner.owner,
    token: owner.token,
    directory: home,
    skills,
    feed: { url: feed.url, auth: { by: 'jws' } },
    clock,
    chance: createSeededChance('fleet'),
    log: 'silent',
    open: async () => ({
      keep: createMemoryKeep({ now: clock.now }),
      answers: createMemoryAnswers({ clock }),
      close: async () => undefined,
    }),
  })
  const fleet = await net.until(starting)
  return {
    net,
    clock,
    fleet,
    feed,
    said: ear.said,
    skills: [...skills.map(({ name }) => name), 'run_campaign', 'approve_spend'],
    owner,
    hirer,
    home,
    startedMs: clock.now() - from,
    end: async () => {
      await net.until(fleet.stop())
      await close()
      await feed.close()
      await net.close()
      ear.leave()
      await directories.removeAll()
      await rm(home, { recursive: true, force: true })
    },
  }
}

/** The real ones, but that trends are scored by their words: a model takes time of its own. */
async function skillsOn({ hub, clock }: Harness, token: string, home: string) {
  const opened = await openSkills(
    { hub: { url: hub, token: { env: 'TOKEN' } } },
    {
      clock,
      environment: { TOKEN: token },
      directory: join(home, 'skills'),
      only: [
        'generate_content',
        'validate_content',
        'publish_content',
        'get_agent_profile',
        'update_agent_state',
        'register_openclaw_profile',
      ],
    },
  )
  const samples = createSamples({ now: clock.now })
  const embedded = {
    name: 'words',
    score: async (trends: readonly TrendData[]) =>
      trends.map(({ topic }) => ({ score: 0.8 + (topic.length % 10) / 100, reasoning: 'words' })),
  }
  const skills: readonly Skill[] = [
    fetchTrends({ sources: { news: [samples], twitter: [samples] }, clock }),
    semanticFilter({ embedded }),
    ...opened.skills,
  ]
  return { skills, close: opened.close }
}

type Asked = {
  readonly origin?: unknown
  readonly path?: unknown
  readonly body?: unknown
}

/** Everything that this process asks of anybody. */
function listen(now: () => number) {
  const said: Said[] = []
  const open = new WeakMap<object, Said>()
  const begin = (message: unknown): void => {
    const { request } = message as { readonly request: Asked }
    const { origin, path, body } = request
    const one = { at: now(), origin: String(origin), path: String(path), body: read(body) }
    open.set(request, one)
    said.push(one)
  }
  const end = (message: unknown): void => {
    const { request, response } = message as {
      readonly request: object
      readonly response: { readonly statusCode: number }
    }
    const one = open.get(request)
    if (one !== undefined) Object.assign(one, { answeredAt: now(), status: response.statusCode })
  }
  subscribe('undici:request:create', begin)
  subscribe('undici:request:headers', end)
  return {
    said,
    leave: () => {
      unsubscribe('undici:request:create', begin)
      unsubscribe('undici:request:headers', end)
    },
  }
}

function read(body: unknown): Body {
  const text = typeof body === 'string' || Buffer.isBuffer(body) ? String(body) : ''
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}
