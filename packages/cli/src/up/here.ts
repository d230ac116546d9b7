/**
 * The network that `chimera up` runs in this folder, so that other commands find it without a word:
 * where it is, who its owner is, and the file with the owner's token.
 *
 *   H1  It counts only where nothing else was said: whoever names a hub means that one, and no
 *       token of this folder goes there.
 */
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export const UP_HOME = '.chimera/up'
const FILE = 'network.json'
const OWNER_TOKEN = 'owner.token'

export type Here = { readonly hub: string; readonly owner: string; readonly tokenFile: string }

export const ownerTokenIn = (directory: string): string => join(directory, OWNER_TOKEN)

export async function announce(
  directory: string,
  { hub, owner }: { readonly hub: string; readonly owner: string },
): Promise<void> {
  await writeWhole(join(directory, FILE), `${JSON.stringify({ hub, owner })}\n`)
}

/** It is there no longer. */
export const withdraw = (directory: string): Promise<void> =>
  rm(join(directory, FILE), { force: true })

export async function findHere(directory = UP_HOME): Promise<Here | undefined> {
  try {
    const { hub, owner }: Readonly<Record<string, unknown>> = Object(
      JSON.parse(await readFile(join(directory, FILE), 'utf8')),
    )
    if (typeof hub !== 'string' || typeof owner !== 'string') return undefined
    return { hub, owner, tokenFile: ownerTokenIn(directory) }
  } catch {
    return undefined
  }
}

/** Whoever reads it finds the one before or this one, and nobody else reads it. */
export async function writeWhole(path: string, text: string): Promise<void> {
  const beside = `${path}.new`
  await mkdir(join(path, '..'), { recursive: true, mode: 0o700 })
  await writeFile(beside, text, { mode: 0o600 })
  await rename(beside, path)
}
