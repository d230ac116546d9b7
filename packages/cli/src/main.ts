/**
 * `chimera <verb>`: reads the words and hands over to the verb; one file per verb. Only the verb
 * that is asked for is loaded, since a hub is much to load for a question to one.
 */
import { Command } from 'commander'
import { codeOf, tell } from './trouble.ts'

const VERBS: Readonly<Record<string, () => Promise<Command>>> = {
  hub: async () => (await import('./verbs/hub.ts')).hubVerb(),
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
  doctor: async () => (await import('./verbs/doctor.ts')).doctorVerb(),
}

const program = new Command('chimera')
  .description('An agent network that you can run')
  .version('0.1.0')
  .addHelpText(
    'after',
    `
Examples:
  chimera hub                          a hub on this machine, data in .chimera
  chimera hub --check                  what it would run with
  chimera discover summarize           who can do it, best first
  chimera ledger alice                 what alice has, and what moved
  chimera owner add alice              an owner, and the token that speaks for it
  chimera keys new agent.json          a key for an agent
  chimera control pause --all          nobody takes new work
  chimera broker init ./broker         what a NATS server needs to let agents in
  chimera watch ledger work            what happens, as it happens
  chimera audit verify trail.jsonl     prove an export, offline
  chimera doctor                       what keeps a hub from running

Exit status: 0 done, 1 tried and failed or found something, 2 the words make no sense.`,
  )

/** All of them where it is not clear which: for the help text, and to say what a typo may mean. */
async function loadVerbs(word: string | undefined): Promise<void> {
  const asked = Object.entries(VERBS).filter(([name]) => name === word)
  for (const [, load] of asked.length > 0 ? asked : Object.entries(VERBS)) {
    program.addCommand(await load())
  }
}

/** A misused command throws instead of ending the process, so that one place gives the status. */
function prepare(command: Command, path: string): void {
  command.exitOverride().showHelpAfterError(`Try \`${path} --help\`.`)
  for (const each of command.commands) prepare(each, `${path} ${each.name()}`)
}

// Whoever reads the pipe may have seen enough.
process.stdout.on('error', (error) => {
  if (codeOf(error) !== 'EPIPE') throw error
  process.exit(0)
})

try {
  await loadVerbs(process.argv[2])
  prepare(program, 'chimera')
  await program.parseAsync()
} catch (error) {
  tell(error)
}
