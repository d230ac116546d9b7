/**
 * Beginning a campaign: a fleet is found and hired for it like for any other work, and the samples
 * to begin with.
 *
 *   B1  The same campaign is the same work: begun again, it is found and not begun anew.
 */
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Network } from '@chimera/agent/hire/connect'
import { writeCents } from '@chimera/dialects/wire'
import type { RunCampaignInput } from '@chimera/fleet/campaign/asked'
import { Trouble } from './trouble.ts'

export const SAMPLES = ['town-square', 'tools-that-last', 'sleep-well-money'] as const
export type Sample = (typeof SAMPLES)[number]

const NAMED = /^persona: (.*)$/m

/** With its persona beside it: a campaign that points nowhere would be no beginning. */
export async function readSample(sample: Sample) {
  const text = await readFile(sampleFile(sample), 'utf8')
  const file = basename(NAMED.exec(text)?.[1] ?? '')
  return {
    campaign: text.replace(NAMED, `persona: ./${file}`),
    persona: { file, text: await readFile(join(samples(), 'personas', file), 'utf8') },
  }
}

/** Where it came with the fleet. */
export const sampleFile = (sample: Sample): string => join(samples(), 'campaigns', `${sample}.yaml`)

const samples = (): string =>
  fileURLToPath(new URL('../samples/', import.meta.resolve('@chimera/fleet')))

/** As long as a piece may wait for its approval. */
const DEADLINE = '24h'

/** The task that it runs as. */
export async function beginCampaign(
  network: Pick<Network, 'discover' | 'ask'>,
  input: RunCampaignInput,
): Promise<string> {
  const [agent] = await network.discover('run_campaign')
  if (agent === undefined) {
    throw new Trouble(['Nobody here runs campaigns.', '`chimera up` starts a fleet.'])
  }
  const budget = writeCents(agent.skill.priceCents)
  const key = input.campaign.campaign_id
  const job = await network.ask(agent, { ...input }, { budget, key, deadline: DEADLINE })
  return job.task
}
