/**
 * `chimera store`: the schema, backups and restoring, on the embedded database and on PostgreSQL
 * alike. A backup of one is restored into the other.
 */
import { existsSync } from 'node:fs'
import { createClock } from '@chimera/host/clock'
import { backup, restore } from '@chimera/store/backup'
import { inspectSchema, migrate, type SchemaState } from '@chimera/store/migrate'
import { Command } from 'commander'
import { readLines, refuseTaken, writeLines } from '../line-file.ts'
import { printJson, printTable } from '../show.ts'
import { type StorageFlags, useDatabase, withStorageFlags } from '../storage.ts'
import { FAILED, MISUSED, Trouble } from '../trouble.ts'

export function storeVerb(): Command {
  return new Command('store')
    .description('The database: its schema, backups, restoring')
    .addCommand(
      withStorageFlags(new Command('migrate'))
        .description('Bring the schema to this version; starting a hub does the same')
        .option('--check', 'Change nothing; exit 1 if the schema is not what a hub needs.')
        .option('--json', 'Print one JSON object.')
        .action(migrateSchema),
    )
    .addCommand(
      withStorageFlags(new Command('backup'))
        .description('Write all that is kept to a file, as of one moment')
        .argument('<file>', 'A new file')
        .action(backupTo),
    )
    .addCommand(
      withStorageFlags(new Command('restore'))
        .description('Read a backup into an empty database: all of it or nothing')
        .argument('<file>', 'What `chimera store backup` wrote')
        .action(restoreFrom),
    )
    .addHelpText(
      'after',
      `
Examples:
  chimera store migrate --check
  chimera store backup monday.jsonl
  chimera store restore monday.jsonl --data ./copy
  chimera store restore monday.jsonl --database postgres://chimera@127.0.0.1/chimera`,
    )
}

type MigrateFlags = StorageFlags & { readonly check?: boolean; readonly json?: boolean }

async function migrateSchema(flags: MigrateFlags): Promise<void> {
  const { check = false, json = false, ...storage } = flags
  await useDatabase(storage, { make: !check }, async (database) => {
    const { now } = createClock()
    const state = check ? await inspectSchema(database) : await migrate(database, { now: now() })
    const fits = !check || isFit(state)
    if (json) printJson({ fits, ...encodeState(state) })
    else showState(state, { check })
    if (!fits) process.exitCode = FAILED
  })
}

const isFit = ({ pending, unknown }: SchemaState) =>
  pending.length === 0 && unknown.every(({ breaking }) => !breaking)

const encodeState = ({ version, pending, unknown }: SchemaState) => ({
  version,
  pending: pending.map(({ version: step, name, breaking }) => ({ version: step, name, breaking })),
  unknown,
})

function showState(
  { version, pending, unknown }: SchemaState,
  { check }: { check: boolean },
): void {
  const step = check ? 'pending' : 'taken'
  const rows = [
    ...pending.map((each) => ({ ...each, state: step })),
    ...unknown.map((each) => ({ ...each, state: 'of a newer version' })),
  ]
  if (rows.length > 0) {
    printTable(
      [
        { title: 'STEP', align: 'right' },
        { title: 'NAME' },
        { title: 'BREAKING' },
        { title: 'STATE' },
      ],
      rows.map((each) => [each.version, each.name, each.breaking ? 'yes' : 'no', each.state]),
    )
  }
  if (unknown.some(({ breaking }) => breaking)) {
    console.error(
      'A newer version has changed this schema in a way that this one cannot work with.',
    )
  } else if (pending.length === 0) console.error(`The schema is up to date, at step ${version}.`)
  else if (check)
    console.error('`chimera store migrate` takes these steps; so does starting a hub.')
  else console.error('The schema is up to date now.')
}

async function backupTo(file: string, storage: StorageFlags): Promise<void> {
  refuseTaken(file)
  await useDatabase(storage, {}, async (database) => {
    refuseUnknown(await inspectSchema(database))
    let count = 0
    await writeLines(file, (put) =>
      backup(database, async (line) => {
        count += 1
        await put(line)
      }),
    )
    console.error(`${count} lines in ${file}. It holds everything, so keep it as safe as the data.`)
  })
}

/** An older schema is backed up as it is: before migrating is when a backup is wanted most. */
function refuseUnknown({ version, unknown }: SchemaState): void {
  if (version === 0) throw new Trouble('The database is empty: there is nothing to back up.')
  if (unknown.length === 0) return
  throw new Trouble([
    'A newer version has added to this database, and a backup by this one would leave that out.',
    'Make the backup with the newer version.',
  ])
}

async function restoreFrom(file: string, storage: StorageFlags): Promise<void> {
  if (!existsSync(file)) throw new Trouble(`${file} is not there.`, MISUSED)
  const { now } = createClock()
  await useDatabase(storage, { make: true }, async (database) => {
    await restore(database, readLines(file), { now: now() })
    console.error('Restored. `chimera audit export --out <file>` and `chimera audit verify <file>`')
    console.error('prove that the books are those of the trail.')
  })
}
