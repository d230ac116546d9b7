/**
 * Roles of the fleet in a process that a test kills: trends from the samples, scored by words, so
 * that nothing heavy is loaded. Each run of a skill leaves a line in a file, before and apart from
 * all that is kept.
 */
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { onNats } from '@chimera/bus/nats/for-agents'
import type { TrendData } from '@chimera/dialects/skills/trend'
import type { Skill } from '@chimera/skill/contract'
import { SKILL_NAMES } from '@chimera/skills/catalogue'
import { fetchTrends } from '@chimera/skills/fetch-trends'
import { openSkills } from '@chimera/skills/providers/open'
import { semanticFilter } from '@chimera/skills/semantic-filter'
import { createSamples } from '@chimera/skills/trends/samples'
import { startFleet } from '../src/fleet.ts'
import { type Role, skillNamesOf } from '../src/roles.ts'

export type MortalFleet = {
  readonly hub: string
  readonly owner: string
  readonly token: string
  readonly directory: string
  readonly roles: readonly Role[]
  readonly bus: boolean
  /** Every run leaves its line here. */
  readonly runs: string
}

export type Run = { readonly skill: string; readonly at: number; readonly input: string }

/** By words: what the campaign makes of scores is the matter here, not how good they are. */
const BY_WORDS = {
  name: 'words',
  score: async (trends: readonly TrendData[]) =>
    trends.map(({ topic }) => ({ score: 0.8 + (topic.length % 10) / 100, reasoning: 'words' })),
}

async function live({ runs, bus, ...wanted }: MortalFleet): Promise<void> {
  const { hub, token, directory, roles } = wanted
  const samples = createSamples({ now: Date.now })
  const light: readonly Skill[] = [
    fetchTrends({ sources: { news: [samples], twitter: [samples] } }),
    semanticFilter({ embedded: BY_WORDS }),
  ]
  const needed = skillNamesOf(roles)
  const { skills } = await openSkills(
    { hub: { url: hub, token: { env: 'TOKEN' } } },
    {
      environment: { TOKEN: token },
      directory: join(directory, 'skills'),
      only: SKILL_NAMES.filter((name) => needed.has(name) && !light.some((it) => it.name === name)),
    },
  )
  const told = (skill: Skill): Skill => {
    const { work } = skill
    if (work.is !== 'function') return skill
    const run: typeof work.run = (input, context) => {
      const line: Run = { skill: skill.name, at: Date.now(), input: JSON.stringify(input) }
      appendFileSync(runs, `${JSON.stringify(line)}\n`)
      return work.run(input, context)
    }
    return { ...skill, work: { ...work, run } }
  }
  await startFleet({
    ...wanted,
    skills: [...light, ...skills].map(told),
    log: 'silent',
    ...(bus && { bus: onNats() }),
  })
  process.stderr.write('The fleet is at work\n')
}

await live(JSON.parse(process.argv[2] ?? ''))
