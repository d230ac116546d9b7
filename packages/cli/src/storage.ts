/**
 * The commands that work on the database itself, beside a hub or without one: they take the hub's
 * own settings for where it is (flag, variable, settings file), and open it for as long as they run.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Values } from '@chimera/host/settings/declare'
import { describeProblem } from '@chimera/host/settings/problems'
import { resolveSettings } from '@chimera/host/settings/resolve'
import { HUB_SETTINGS } from '@chimera/hub/settings'
import type { Database } from '@chimera/store/engine/database'
import { openDatabase } from '@chimera/store/engine/open'
import type { Command } from 'commander'
import { MISUSED, Trouble } from './trouble.ts'

export type HubValues = Values<typeof HUB_SETTINGS>

export type StorageFlags = {
  readonly data?: string
  readonly database?: string
  readonly config?: string
}

export function withStorageFlags(verb: Command): Command {
  return verb
    .option('--data <directory>', HUB_SETTINGS.data.about)
    .option('--database <address>', HUB_SETTINGS.database.about)
    .option('--config <file>', 'The settings file of the hub.')
}

/** All of the hub's settings, so that a file with more than these two is no problem. */
export async function readHubSettings(
  flags: Readonly<Record<string, unknown>> & { readonly config?: string | undefined },
): Promise<HubValues> {
  const { config, ...rest } = flags
  const settings = await resolveSettings(HUB_SETTINGS, {
    flags: rest,
    ...(config !== undefined && { config }),
  })
  if (settings.ok) return settings.values
  throw new Trouble(settings.problems.map(describeProblem), MISUSED)
}

/** `make`: an embedded database that is not there is made, rather than missed. */
export async function useDatabase<T>(
  { data, database: server, config }: StorageFlags,
  { make = false }: { readonly make?: boolean },
  use: (database: Database) => Promise<T>,
): Promise<T> {
  const settings = await readHubSettings({
    ...(data !== undefined && { data }),
    ...(server !== undefined && { database: server }),
    config,
  })
  if (settings.database === undefined && !make && !isEmbedded(settings.data)) {
    throw new Trouble([
      `There is no database in ${settings.data}.`,
      'Name its directory with --data, or a server with --database; `chimera hub` makes a new one.',
    ])
  }
  const database = await openDatabase(settings.database ?? `pglite:${settings.data}`)
  try {
    return await use(database)
  } finally {
    await database.close()
  }
}

/** Whether a hub has kept its data in this directory. */
export function isEmbedded(directory: string): boolean {
  return existsSync(join(directory, 'pg', 'PG_VERSION'))
}
