/**
 * All verbs of `chimera`; one file per verb. Only the verb that is asked for is loaded, since a hub
 * is much to load for a question to one.
 */
import { Command } from 'commander'
import { VERSION } from './version.ts'

const VERBS: Readonly<Record<string, () => Promise<Command>>> = {
  up: async () => (await import('./verbs/up.ts')).upVerb(),
  init: async () => (await import('./verbs/init.ts')).initVerb(),
  hub: async () => (await import('./verbs/hub.ts')).hubVerb(),
  fleet: async () => (await import('./verbs/fleet.ts')).fleetVerb(),
  new: async () => (await import('./verbs/new.ts')).newVerb(),
  agent: async () => (await import('./verbs/agent.ts')).agentVerb(),
  hire: async () => (await import('./verbs/hire.ts')).hireVerb(),
  reserve: async () => (await import('./verbs/reserve.ts')).reserveVerb(),
  work: async () => (await import('./verbs/work.ts')).workVerb(),
  discover: async () => (await import('./verbs/discover.ts')).discoverVerb(),
  agents: async () => (await import('./verbs/agents.ts')).agentsVerb(),
  ledger: async () => (await import('./verbs/ledger.ts')).ledgerVerb(),
  owner: async () => (await import('./verbs/owner.ts')).ownerVerb(),
  token: async () => (await import('./verbs/token.ts')).tokenVerb(),
  keys: async () => (await import('./verbs/keys.ts')).keysVerb(),
  control: async () => (await import('./verbs/control.ts')).controlVerb(),
  broker: async () => (await import('./verbs/broker.ts')).brokerVerb(),
  watch: async () => (await import('./verbs/watch.ts')).watchVerb(),
  audit: async () => (await import('./verbs/audit.ts')).auditVerb(),
  store: async () => (await import('./verbs/store.ts')).storeVerb(),
  skill: async () => (await import('./verbs/skill.ts')).skillVerb(),
  providers: async () => (await import('./verbs/providers.ts')).providersVerb(),
  campaign: async () => (await import('./verbs/campaign.ts')).campaignVerb(),
  review: async () => (await import('./verbs/review.ts')).reviewVerb(),
  doctor: async () => (await import('./verbs/doctor.ts')).doctorVerb(),
}

export function createProgram(): Command {
  return new Command('chimera')
    .description('An agent network that you can run')
    .version(VERSION)
    .addHelpText(
      'after',
      `
Examples:
  chimera up                           a whole network: hub, fleet, page, a campaign
  chimera init                         your feeds, models and platforms, your campaign
  chimera hub                          a hub on this machine, data in .chimera
  chimera hub --check                  what it would run with
  chimera fleet judge --hub …          one role of the fleet, elsewhere
  chimera new agent my-agent           a file of skills to begin with
  chimera agent my-agent/skills.ts     serves it, and --watch anew after each change
  chimera hire word_count --budget 1   has it done, and pays
  chimera work list --owner alice      what became of it
  chimera discover summarize           who can do it, best first
  chimera ledger alice                 what alice has, and what moved
  chimera owner add alice              an owner, and the token that speaks for it
  chimera keys new agent.json          a key for an agent
  chimera control pause --all          nobody takes new work
  chimera broker init ./broker         what a NATS server needs to let agents in
  chimera watch ledger work            what happens, as it happens
  chimera audit verify trail.jsonl     prove an export, offline
  chimera skill list                   the ten skills, and what they stand on
  chimera providers check              whether your models, servers and wallet work
  chimera campaign run town.yaml       has a fleet run it
  chimera review list                  what waits for you before it is published
  chimera doctor                       what keeps a hub from running

Exit status: 0 done, 1 tried and failed or found something, 2 the words make no sense.`,
    )
}

/** Of the words after `chimera` the first says which; where it does not, all may be meant. */
export async function loadVerbs(program: Command, word?: string): Promise<Command> {
  const asked = Object.entries(VERBS).filter(([name]) => name === word)
  for (const [, load] of asked.length > 0 ? asked : Object.entries(VERBS)) {
    program.addCommand(await load())
  }
  return program
}
