/** `chimera <verb>`: reads the words and hands over to the verb; one file per verb. */
import { Command } from 'commander'
import { codeOf, tell } from './trouble.ts'
import { agentsVerb } from './verbs/agents.ts'
import { auditVerb } from './verbs/audit.ts'
import { discoverVerb } from './verbs/discover.ts'
import { doctorVerb } from './verbs/doctor.ts'
import { hubVerb } from './verbs/hub.ts'
import { ledgerVerb } from './verbs/ledger.ts'
import { storeVerb } from './verbs/store.ts'

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
  chimera audit verify trail.jsonl     prove an export, offline
  chimera doctor                       what keeps a hub from running

Exit status: 0 done, 1 tried and failed or found something, 2 the words make no sense.`,
  )
  .addCommand(hubVerb())
  .addCommand(discoverVerb())
  .addCommand(agentsVerb())
  .addCommand(ledgerVerb())
  .addCommand(auditVerb())
  .addCommand(storeVerb())
  .addCommand(doctorVerb())

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

prepare(program, 'chimera')
try {
  await program.parseAsync()
} catch (error) {
  tell(error)
}
