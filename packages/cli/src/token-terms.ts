/**
 * What the commands that make tokens share: what a new token is good for, and how its text is given
 * to whoever asked.
 *
 *   T1  The text is shown by the command that made it, once: on standard output alone, or in a new
 *       file that only its owner reads. Nothing else prints one.
 */
import { open } from 'node:fs/promises'
import { checker } from '@chimera/dialects/check'
import { TokenMade } from '@chimera/dialects/chimera'
import { writeCents, writeInstant } from '@chimera/dialects/wire'
import { SCOPES } from '@chimera/domain/scopes'
import { createClock } from '@chimera/host/clock'
import { optional, type Values } from '@chimera/host/settings/declare'
import { choice, duration, list, text } from '@chimera/host/settings/kinds'
import type { Command } from 'commander'
import { askHub, type Sent, understand } from './ask.ts'
import { credits, HUB_ADDRESS, HUB_TOKEN } from './flags.ts'
import { printJson } from './show.ts'
import { codeOf, Trouble } from './trouble.ts'

const DAY_MS = 24 * 60 * 60 * 1_000

/** Where the text goes. */
export const GIVEN = {
  out: optional(text(), {
    about: 'Write the token to this new file, with mode 0600, instead of printing it.',
  }),
} as const

export const TERMS = {
  ...HUB_ADDRESS,
  ...HUB_TOKEN,
  ...GIVEN,
  scopes: optional(list(choice(SCOPES), SCOPES.length), {
    about: `What it is good for, separated by commas: ${SCOPES.join(', ')}.`,
  }),
  expiresIn: optional(duration({ least: 60_000, most: 3_650 * DAY_MS }), {
    about: 'How long it lives, such as 12h or 90d; without it, until it is revoked.',
  }),
  cap: optional(credits(), { about: 'How many credits it can spend in all.' }),
} as const

export function withHubFlags(verb: Command): Command {
  return verb
    .option('--hub <address>', HUB_ADDRESS.hub.about)
    .option('--token-file <file>', HUB_TOKEN.token.about)
    .option('--json', 'Print what the hub answers.')
}

export function withTerms(verb: Command): Command {
  return withHubFlags(verb)
    .option('--scopes <list>', TERMS.scopes.about)
    .option('--expires-in <time>', TERMS.expiresIn.about)
    .option('--cap <credits>', TERMS.cap.about)
    .option('--out <file>', GIVEN.out.about)
}

export function encodeTerms({ scopes, expiresIn, cap }: Values<typeof TERMS>) {
  const { now } = createClock()
  return {
    ...(scopes && { scopes }),
    ...(expiresIn !== undefined && { expires_at: writeInstant(now() + expiresIn) }),
    ...(cap !== undefined && { spending_cap: writeCents(cap) }),
  }
}

/** Asks for a token under these terms and gives it to whoever asked. */
export async function makeToken(
  { hub, path, sent }: { readonly hub: string; readonly path: string; readonly sent: Sent },
  { json, out }: { readonly json: boolean; readonly out: string | undefined },
): Promise<void> {
  const answer = await askHub(hub, path, sent)
  const made = understand(answer, { check: checker(TokenMade), hub })
  const whose = made.owner_id === undefined ? "an operator's token" : `a token of ${made.owner_id}`
  const until = made.expires_at === undefined ? 'until it is revoked' : `until ${made.expires_at}`
  await giveText(answer, made.token, {
    json,
    out,
    about: `${made.id} is ${whose} for ${made.scopes.join(', ')}, ${until}.`,
  })
}

export async function giveText(
  answer: unknown,
  secretText: string,
  given: { readonly json: boolean; readonly out: string | undefined; readonly about: string },
): Promise<void> {
  const { json, out, about } = given
  if (out !== undefined) await writeSecret(out, secretText)
  if (json) {
    const { token: _, ...rest } = Object(answer) as Record<string, unknown>
    return printJson(out === undefined ? answer : rest)
  }
  console.error(about)
  if (out !== undefined) return console.error(`Its text is in ${out}, and nowhere else.`)
  console.error('Its text, shown this once:')
  console.log(secretText)
}

async function writeSecret(path: string, secretText: string): Promise<void> {
  try {
    const file = await open(path, 'wx', 0o600)
    try {
      await file.writeFile(`${secretText}\n`, 'utf8')
    } finally {
      await file.close()
    }
  } catch (cause) {
    // It has been made, and this is the only time that anybody sees it.
    console.error('It could not be written there, so here it is:')
    console.log(secretText)
    throw new Trouble(
      codeOf(cause) === 'EEXIST'
        ? `${path} is there already and was not touched.`
        : `${path} could not be written.`,
    )
  }
}
