/** `chimera owner`: an operator makes an owner, who is paid and pays, and the token for it. */
import { Command } from 'commander'
import { readFlags } from '../flags.ts'
import { encodeTerms, makeToken, TERMS, withTerms } from '../token-terms.ts'

export function ownerVerb(): Command {
  return new Command('owner')
    .description('Who is paid and who pays')
    .addCommand(
      withTerms(new Command('add'))
        .description('Make an owner and its token, or another token for one that lost it')
        .argument('<name>', 'How the owner is called, up to 128 characters')
        .action(add),
    )
    .addHelpText(
      'after',
      `
It needs the token of an operator, which a hub shows when it first starts.

Examples:
  chimera owner add alice --token-file operator.token --out alice.token
  chimera owner add bob --scopes read,agents --expires-in 90d
  chimera owner add carol --cap 50 --json`,
    )
}

type Options = Readonly<Record<string, unknown>> & { readonly json?: boolean }

async function add(name: string, { json = false, ...flags }: Options): Promise<void> {
  const terms = await readFlags(TERMS, flags)
  const { hub, token, out } = terms
  const body = { owner_id: name, ...encodeTerms(terms) }
  await makeToken({ hub, path: '/v1/owners', sent: { body, token } }, { json, out })
}
