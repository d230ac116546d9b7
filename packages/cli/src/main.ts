/** `chimera <verb>`: reads the words and hands over to the verb; one file per verb. */
import { Command } from 'commander'
import { hubVerb } from './verbs/hub.ts'

const program = new Command('chimera')
  .description('An agent network that you can run')
  .version('0.1.0')
  .showHelpAfterError('Try `chimera --help`.')
  .addHelpText(
    'after',
    `
Examples:
  chimera hub                          a hub on this machine, data in .chimera
  chimera hub --check                  what it would run with
  chimera hub --extra-ports 8001,8002  where Chorus programs look`,
  )
  .addCommand(hubVerb())

await program.parseAsync()
