/**
 * Keys of agents in files of the user's own. The paths are theirs to see, so what went wrong is
 * said with them; the key itself is never shown.
 */
import { Failure } from '@chimera/identity/failure'
import { type KeptKey, loadKeyFile, loadOrCreateKeyFile } from '@chimera/identity/key-file'
import type { KeyPair } from '@chimera/identity/keys'
import { Trouble } from './trouble.ts'

export const readKey = async (path: string): Promise<KeyPair> =>
  (await explained(loadKeyFile(path))).pair

/** For a key that is about to be introduced: the file may be new. */
export async function readOrMakeKey(path: string): Promise<KeyPair> {
  const kept = await explained(loadOrCreateKeyFile(path))
  if (kept.created) tellMade(path, kept)
  return kept.pair
}

export function tellMade(path: string, { guarded }: Pick<KeptKey, 'guarded'>): void {
  console.error(`A new key is in ${path}. Whoever has this file speaks for the agent.`)
  if (!guarded) console.error('This system has no file modes: see to it that nobody else reads it.')
}

export async function explained<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof Failure) throw new Trouble([error.message, error.detail])
    throw error
  }
}
