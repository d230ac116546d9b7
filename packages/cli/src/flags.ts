/**
 * What was said on the command line, as values. Every problem is reported, in one go and in the
 * words of the settings, before anything is tried.
 */
import { readFile } from 'node:fs/promises'
import { readCents, writeCents } from '@chimera/dialects/wire'
import { type Declared, secret, setting, type Values } from '@chimera/host/settings/declare'
import { type Kind, text, url } from '@chimera/host/settings/kinds'
import { describeProblem } from '@chimera/host/settings/problems'
import { resolveSettings } from '@chimera/host/settings/resolve'
import { SETTINGS_FILE } from '@chimera/host/settings/sources'
import { MISUSED, Trouble } from './trouble.ts'
import { findHere } from './up/here.ts'

type Fields = Readonly<Record<string, unknown>>

export const HUB_ADDRESS = {
  hub: setting(url('http', 'https'), {
    fallback: 'http://127.0.0.1:4600',
    about: 'The hub to ask; CHIMERA_HUB says it for all commands.',
  }),
} as const

/** Never on the command line itself, which other users of the machine can read. */
export const HUB_TOKEN = {
  token: secret(text({ least: 1, most: 8_192 }), {
    about: 'A file with the token to present; CHIMERA_TOKEN or CHIMERA_TOKEN_FILE say it for all.',
  }),
} as const

/** Amounts come as credits and are kept as hundredths. */
export function credits(): Kind<number> {
  return {
    expected: 'credits of at least 0, with at most two decimals',
    read: (raw) =>
      /^\d{1,12}(\.\d{1,2})?$/.test(String(raw)) ? readCents(Number(raw)) : undefined,
    show: (cents) => String(writeCents(cents)),
  }
}

export async function readFlags<D extends Declared>(
  declared: D,
  flags: Fields,
): Promise<Values<D>> {
  const settings = await resolveSettings(declared, {
    flags,
    // `--limit` and the like belong to one call; a variable would change all of them unseen.
    env: await said(flags),
    read: readSecretFile,
  })
  if (settings.ok) return settings.values
  throw new Trouble(settings.problems.map(describeProblem), MISUSED)
}

/** By variables; where no hub was named, the network that runs in this folder is meant. */
async function said(flags: Fields): Promise<Readonly<Record<string, string | undefined>>> {
  const { CHIMERA_HUB, CHIMERA_OWNER, CHIMERA_TOKEN, CHIMERA_TOKEN_FILE } = process.env
  const named = { CHIMERA_HUB, CHIMERA_OWNER, CHIMERA_TOKEN, CHIMERA_TOKEN_FILE }
  if (flags.hub !== undefined || CHIMERA_HUB) return named
  const here = await findHere()
  if (here === undefined) return named
  const isKnown = flags.tokenFile !== undefined || CHIMERA_TOKEN || CHIMERA_TOKEN_FILE
  return {
    ...named,
    CHIMERA_HUB: here.hub,
    // Whose token is given is known by it, and need not be the owner of this folder.
    ...(!isKnown && {
      CHIMERA_OWNER: CHIMERA_OWNER || here.owner,
      CHIMERA_TOKEN_FILE: here.tokenFile,
    }),
  }
}

/** The settings file is the hub's, and knows none of these; only a named secret is read. */
async function readSecretFile(path: string): Promise<string> {
  if (path !== SETTINGS_FILE) return readFile(path, 'utf8')
  throw Object.assign(new Error('not read'), { code: 'ENOENT' })
}
