/**
 * Data directories of the embedded database. Making one takes seconds, so one is made per machine
 * and version, kept beside the installed packages, and copied: an empty one, and one with our
 * tables.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Database } from '../src/engine/database.ts'
import { openPglite } from '../src/engine/pglite.ts'
import { migrate } from '../src/migrate.ts'
import { MIGRATIONS } from '../src/migrations/ordered.ts'

const MADE = fileURLToPath(new URL('../../../node_modules/.cache/chimera', import.meta.url))

export type Directories = {
  readonly newDirectory: () => Promise<string>
  /** With the tables of today, for whoever does not look at how they are made. */
  readonly newMigrated: () => Promise<string>
  readonly removeAll: () => Promise<void>
}

export function createDirectories(): Directories {
  const made: string[] = []
  return {
    async newDirectory() {
      const directory = await mkdtemp(join(tmpdir(), 'chimera-pglite-'))
      made.push(directory)
      await copyTree(join(await emptyOne(), 'pg'), join(directory, 'pg'))
      return directory
    },
    async newMigrated() {
      const directory = await mkdtemp(join(tmpdir(), 'chimera-pglite-'))
      made.push(directory)
      await fillMigrated(directory)
      return directory
    },
    async removeAll() {
      for (const each of made) await removeTree(each)
    },
  }
}

/** Gives a directory that has no database yet one with the tables of today. */
export async function fillMigrated(directory: string): Promise<void> {
  const target = join(directory, 'pg')
  if (existsSync(target)) return
  await mkdir(directory, { recursive: true })
  await copyTree(join(await migratedOne(), 'pg'), target)
}

const run = promisify(execFile)
const hasTools = process.platform !== 'win32'

/** More than a thousand files: the system's own tool takes a fifth of the time that Node takes. */
async function copyTree(from: string, to: string): Promise<void> {
  if (hasTools) await run('cp', ['-R', from, to])
  else await cp(from, to, { recursive: true })
}

async function removeTree(path: string): Promise<void> {
  if (hasTools) await run('rm', ['-rf', path])
  else await rm(path, { recursive: true, force: true })
}

const emptyOne = async (): Promise<string> =>
  kept(`pglite-empty-${await version()}`, async () => undefined)

async function migratedOne(): Promise<string> {
  const tables = createHash('sha256').update(MIGRATIONS.map(({ sql }) => sql).join('\n'))
  const name = `${await version()}-${tables.digest('hex').slice(0, 12)}`
  return kept(`pglite-migrated-${name}`, (database) => migrate(database, { now: 0 }))
}

async function version(): Promise<string> {
  const entry = fileURLToPath(import.meta.resolve('@electric-sql/pglite'))
  const manifest = join(entry, '..', '..', 'package.json')
  const { version: text }: { version: string } = JSON.parse(await readFile(manifest, 'utf8'))
  return text
}

async function kept(name: string, fill: (database: Database) => Promise<unknown>): Promise<string> {
  const directory = join(MADE, name)
  if (existsSync(directory)) return directory
  await mkdir(MADE, { recursive: true })
  const draft = await mkdtemp(`${directory}-draft-`)
  const database = await openPglite({ directory: draft })
  await fill(database)
  await database.close()
  // Whoever was faster has made the same.
  await rename(draft, directory).catch(() => rm(draft, { recursive: true, force: true }))
  return directory
}
