/** `chimera discover`: who can do this, best first, and why in this order (P-6). */
import { checker } from '@chimera/dialects/check'
import * as chorus from '@chimera/dialects/chorus'
import { centsOf } from '@chimera/dialects/wire'
import { optional, setting } from '@chimera/host/settings/declare'
import { fraction, whole } from '@chimera/host/settings/kinds'
import { Command } from 'commander'
import { askHub, understand } from '../ask.ts'
import { credits, HUB_ADDRESS, readFlags } from '../flags.ts'
import { printJson, printTable, writeCredits } from '../show.ts'

const ASKED = {
  ...HUB_ADDRESS,
  maxCost: optional(credits(), { about: 'Leave out whoever costs more, in credits a call.' }),
  minReputation: optional(fraction({ least: 0, most: 100 }), {
    about: 'Leave out whoever has a lower score.',
  }),
  limit: setting(whole({ least: 1, most: 100 }), { fallback: 20, about: 'How many to list.' }),
} as const

export function discoverVerb(): Command {
  return new Command('discover')
    .description('Find agents that offer all of these skills and are online, best first')
    .argument('<skill...>', 'A skill, with its version or without: summarize, summarize@v2')
    .option('--hub <address>', ASKED.hub.about)
    .option('--max-cost <credits>', ASKED.maxCost.about)
    .option('--min-reputation <score>', ASKED.minReputation.about)
    .option('--limit <count>', ASKED.limit.about)
    .option('--fair', 'Give a newcomer the first place in a tenth of all draws.')
    .option('--json', 'Print what the hub answers, with the reasons of each place.')
    .addHelpText(
      'after',
      `
Examples:
  chimera discover summarize
  chimera discover summarize translate --max-cost 2.50 --min-reputation 60
  chimera discover summarize --json | jq -r '.agents[0].api_endpoint'`,
    )
    .action(run)
}

type Options = Readonly<Record<string, unknown>> & {
  readonly fair?: boolean
  readonly json?: boolean
}

async function run(skills: readonly string[], options: Options): Promise<void> {
  const { fair = false, json = false, ...flags } = options
  const { hub, maxCost, minReputation, limit } = await readFlags(ASKED, flags)
  const query = chorus.encodeDiscovery({
    type: 'find_agents',
    skills,
    ...(maxCost !== undefined && { maxCostCents: maxCost }),
    ...(minReputation !== undefined && { minScoreMicro: Math.round(minReputation * 1_000_000) }),
    limit,
    offset: 0,
    order: fair ? 'fair' : 'reputation',
  })
  const answer = await askHub(hub, `/discover?${new URLSearchParams(query).toString()}`)
  const { agents, total } = understand(answer, { check: checker(chorus.schema.Discovered), hub })
  if (json) return printJson(answer)

  printTable(
    [
      { title: 'AGENT' },
      { title: 'NAME' },
      { title: 'SCORE', align: 'right' },
      { title: 'COST', align: 'right' },
      { title: 'ENDPOINT' },
    ],
    agents.map((each) => [
      each.agent_id,
      each.agent_name,
      each.reputation_score.toFixed(2),
      writeCredits(centsOf(each.skill.cost_per_call)),
      each.api_endpoint,
    ]),
  )
  console.error(sayHowMany(agents.length, total ?? agents.length))
}

function sayHowMany(shown: number, total: number): string {
  if (total === 0) {
    return 'Nobody who is online offers that. `chimera agents skills` lists what is offered.'
  }
  return shown < total ? `${shown} of ${total}; --limit shows more.` : `${total} found.`
}
