/**
 * Data directories of the embedded database. Making an empty one takes seconds, so one is made per
 * machine and version, kept among the temporary files, and copied.
 */
import { existsSync } from 'node:fs'
import { cp, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openPglite } from '../src/engine/pglite.ts'

export type Directories = {
  readonly newDirectory: () => Promise<string>
  readonly removeAll: () => Promise<void>
}

export function createDirectories(): Directories {
  const made: string[] = []
  return {
    async newDirectory() {
      const directory = await mkdtemp(join(tmpdir(), 'chimera-pglite-'))
      made.push(directory)
      await cp(join(await template(), 'pg'), join(directory, 'pg'), { recursive: true })
      return directory
    },
    async removeAll() {
      for (const each of made) await rm(each, { recursive: true, force: true })
    },
  }
}

async function template(): Promise<string> {
  const entry = fileURLToPath(import.meta.resolve('@electric-sql/pglite'))
  const manifest = join(entry, '..', '..', 'package.json')
  const { version }: { version: string } = JSON.parse(await readFile(manifest, 'utf8'))
  const kept = join(tmpdir(), `chimera-pglite-empty-${version}`)
  if (existsSync(kept)) return kept
  const draft = await mkdtemp(join(tmpdir(), 'chimera-pglite-draft-'))
  await (await openPglite({ directory: draft })).close()
  // Whoever was faster has made the same.
  await rename(draft, kept).catch(() => rm(draft, { recursive: true, force: true }))
  return kept
}
