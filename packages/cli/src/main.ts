/** `chimera <verb>`: reads the words and hands over to the verb. */
import type { Command } from 'commander'
import { createProgram, loadVerbs } from './program.ts'
import { codeOf, tell } from './trouble.ts'

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
  const program = await loadVerbs(createProgram(), process.argv[2])
  prepare(program, 'chimera')
  await program.parseAsync()
} catch (error) {
  tell(error)
}
