/** `chimera token`: further tokens that allow less, which there are, and how one ends. */
import { checker } from '@chimera/dialects/check'
import { SessionMade, TokenList } from '@chimera/dialects/chimera'
import { centsOf } from '@chimera/dialects/wire'
import { LIMITS } from '@chimera/domain/limits'
import { SCOPES } from '@chimera/domain/scopes'
import { optional } from '@chimera/host/settings/declare'
import { choice, duration, list, text } from '@chimera/host/settings/kinds'
import { Command } from 'commander'
import { askHub, understand } from '../ask.ts'
import { HUB_ADDRESS, HUB_TOKEN, readFlags } from '../flags.ts'
import { readKey } from '../key-pair.ts'
import { printJson, printTable, writeCredits } from '../show.ts'
import {
  encodeTerms,
  GIVEN,
  giveText,
  makeToken,
  TERMS,
  withHubFlags,
  withTerms,
} from '../token-terms.ts'

const LISTED = {
  ...HUB_ADDRESS,
  ...HUB_TOKEN,
  owner: optional(text({ least: 1, most: LIMITS.ownerChars }), {
    about: 'Whose tokens, for an operator; an owner sees its own.',
  }),
} as const

const SESSION = {
  ...HUB_ADDRESS,
  ...HUB_TOKEN,
  ...GIVEN,
  scopes: optional(list(choice(SCOPES), SCOPES.length), {
    about: 'What it is good for, at most what it is given for.',
  }),
  ttl: optional(duration({ least: 1_000, most: 15 * 60_000 }), {
    about: 'How long it lives, at most 15m, which is also what it lives if nothing is said.',
  }),
  keyFile: optional(text(), {
    about: "Give it for an agent's key, which signs the request, instead of for a token.",
  }),
} as const

export function tokenVerb(): Command {
  return new Command('token')
    .description('Tokens: make, list, revoke')
    .addCommand(
      withTerms(new Command('add'))
        .description('A further token of your own kind, that allows as much or less')
        .action(add),
    )
    .addCommand(
      withHubFlags(new Command('list'))
        .description('The tokens of an owner, without their text')
        .option('--owner <name>', LISTED.owner.about)
        .action(listAll),
    )
    .addCommand(
      withHubFlags(new Command('revoke'))
        .description('End a token and the sessions that were given for it')
        .argument('<id>', 'The id of the token, as `token list` shows it')
        .action(revoke),
    )
    .addCommand(
      withHubFlags(new Command('session'))
        .description('A token for some minutes, given for a token or for a key')
        .option('--scopes <list>', SESSION.scopes.about)
        .option('--ttl <time>', SESSION.ttl.about)
        .option('--key-file <file>', SESSION.keyFile.about)
        .option('--out <file>', GIVEN.out.about)
        .action(openSession),
    )
    .addHelpText(
      'after',
      `
A token is presented by --token-file or CHIMERA_TOKEN, never on the command line. Its text is shown
by the command that makes it and by no other.

Examples:
  chimera token add --scopes read --expires-in 12h --token-file alice.token
  chimera token add --scopes read,money --cap 5 --out shopping.token
  chimera token list --token-file alice.token
  chimera token revoke 7d0c3c0a-5b1e-4a52-9a53-6f1f0f6f7d11
  chimera token session --key-file agent.json --ttl 5m`,
    )
}

type Options = Readonly<Record<string, unknown>> & { readonly json?: boolean }

async function add({ json = false, ...flags }: Options): Promise<void> {
  const terms = await readFlags(TERMS, flags)
  const { hub, token, out } = terms
  const sent = { body: encodeTerms(terms), token }
  await makeToken({ hub, path: '/v1/tokens', sent }, { json, out })
}

async function listAll({ json = false, ...flags }: Options): Promise<void> {
  const { hub, token, owner } = await readFlags(LISTED, flags)
  const query = owner === undefined ? '' : `?${new URLSearchParams({ owner_id: owner }).toString()}`
  const answer = await askHub(hub, `/v1/tokens${query}`, { token })
  const { tokens } = understand(answer, { check: checker(TokenList), hub })
  if (json) return printJson(answer)
  if (tokens.length === 0) return console.error('There is no token of this owner.')
  printTable(
    [
      { title: 'ID' },
      { title: 'OWNER' },
      { title: 'SCOPES' },
      { title: 'EXPIRES' },
      { title: 'SPENT', align: 'right' },
      { title: 'CAP', align: 'right' },
      { title: 'REVOKED' },
    ],
    tokens.map((each) => [
      each.id,
      each.owner_id,
      each.scopes.join(','),
      each.expires_at ?? 'never',
      writeCredits(centsOf(each.spent)),
      each.spending_cap === undefined ? 'none' : writeCredits(centsOf(each.spending_cap)),
      each.revoked_at,
    ]),
  )
}

async function revoke(id: string, { json = false, ...flags }: Options): Promise<void> {
  const { hub, token } = await readFlags({ ...HUB_ADDRESS, ...HUB_TOKEN }, flags)
  const path = `/v1/tokens/${encodeURIComponent(id)}`
  await askHub(hub, path, { method: 'DELETE', token })
  if (json) return printJson({ revoked: id })
  console.error('Revoked, with every session that was given for it. Tokens that were made with it')
  console.error('live on: `chimera token list` shows them.')
}

async function openSession({ json = false, ...flags }: Options): Promise<void> {
  const { hub, token, scopes, ttl, keyFile, out } = await readFlags(SESSION, flags)
  const key = keyFile === undefined ? undefined : await readKey(keyFile)
  const body = {
    ...(scopes && { scopes }),
    ...(ttl !== undefined && { ttl_seconds: Math.floor(ttl / 1_000) }),
  }
  const answer = await askHub(hub, '/v1/tokens/session', { body, token, key })
  const made = understand(answer, { check: checker(SessionMade), hub })
  const about = `A token for ${made.scopes.join(', ')}, until ${made.expires_at}.`
  await giveText(answer, made.token, { json, out, about })
}
