/** `chimera agents`: one agent as the hub knows it, and which skills are on offer. */
import { checker } from '@chimera/dialects/check'
import { schema } from '@chimera/dialects/chorus'
import { centsOf } from '@chimera/dialects/wire'
import { Command } from 'commander'
import { askHub, understand } from '../ask.ts'
import { HUB_ADDRESS, readFlags } from '../flags.ts'
import { printJson, printTable, writeCredits } from '../show.ts'

export function agentsVerb(): Command {
  return new Command('agents')
    .description('Look at agents and at the skills that they offer')
    .addCommand(
      new Command('show')
        .description('One agent: who it belongs to, what it offers, how it stands')
        .argument('<id>', "The agent's id, a UUID")
        .option('--hub <address>', HUB_ADDRESS.hub.about)
        .option('--json', 'Print what the hub answers.')
        .action(show),
    )
    .addCommand(
      new Command('skills')
        .description('Which skills are offered, and by how many agents')
        .option('--hub <address>', HUB_ADDRESS.hub.about)
        .option('--json', 'Print what the hub answers.')
        .action(listSkills),
    )
    .addHelpText(
      'after',
      `
Examples:
  chimera agents skills
  chimera agents show 7d0c3c0a-5b1e-4a52-9a53-6f1f0f6f7d11`,
    )
}

type Options = Readonly<Record<string, unknown>> & { readonly json?: boolean }

async function show(id: string, { json = false, ...flags }: Options): Promise<void> {
  const { hub } = await readFlags(HUB_ADDRESS, flags)
  const answer = await askHub(hub, `/agents/${encodeURIComponent(id)}`)
  const agent = understand(answer, { check: checker(schema.AgentEntry), hub })
  if (json) return printJson(answer)

  printTable(
    [{ title: 'AGENT' }, { title: agent.agent_id }],
    [
      ['name', agent.agent_name],
      ['owner', agent.owner_id],
      ['status', agent.status],
      ['score', agent.reputation_score.toFixed(2)],
      ['endpoint', agent.api_endpoint],
      ['version', agent.version],
    ],
  )
  console.log()
  printTable(
    [{ title: 'SKILL' }, { title: 'COST', align: 'right' }, { title: 'DESCRIPTION' }],
    agent.skills.map((each) => [
      each.skill_name,
      writeCredits(centsOf(each.cost_per_call)),
      each.description,
    ]),
  )
}

async function listSkills({ json = false, ...flags }: Options): Promise<void> {
  const { hub } = await readFlags(HUB_ADDRESS, flags)
  const answer = await askHub(hub, '/skills')
  const { skills } = understand(answer, { check: checker(schema.SkillList), hub })
  if (json) return printJson(answer)

  const sorted = skills.toSorted((one, other) => other.agents - one.agents)
  printTable(
    [{ title: 'SKILL' }, { title: 'AGENTS', align: 'right' }],
    sorted.map(({ skill_name, agents }) => [skill_name, agents]),
  )
  if (skills.length === 0) console.error('Nobody has registered yet.')
}
