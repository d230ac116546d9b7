/**
 * The key that an agent is (AV-12): made on the first start, kept in a file that nobody else can
 * read, and replaced by one that it introduces itself.
 *
 *   K1  The next key is on the disk before anybody is told of it, and takes the file's place only
 *       after the hub has taken it. So whatever breaks off in between, the key that speaks for the
 *       agent is never lost.
 *   K2  The old key keeps a file of its own: what it signed stays verifiable, and nothing is ever
 *       overwritten (identity's key-file, L3).
 *   K3  Copies of one agent share the file. One that finds its key refused reads it again, for
 *       another may have rotated it.
 */
import { link, rename, stat } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { Failure } from '@chimera/identity/failure'
import { loadKeyFile, loadOrCreateKeyFile } from '@chimera/identity/key-file'
import { generateKeyPair, type KeyPair, type Random } from '@chimera/identity/keys'

export type Keys = {
  /** The key that speaks, as it is now. */
  readonly pair: () => KeyPair
  /** Whether it was made by this start. */
  readonly created: boolean
  /** Whether the file's permissions could be checked; false in memory and on some platforms. */
  readonly guarded: boolean
  /** The next key: that of a rotation which broke off, or a new one. */
  readonly prepare: () => Promise<KeyPair>
  /** That of a rotation which broke off, if one did. */
  readonly prepared: () => Promise<KeyPair | undefined>
  /** The prepared key speaks from now on (K1). */
  readonly promote: () => Promise<void>
  /** Whether the file holds another key than before (K3). */
  readonly reload: () => Promise<boolean>
}

/** Throws identity's `Failure` for a file that is exposed, damaged or cannot be written. */
export async function openKeys(path: string, random?: Random): Promise<Keys> {
  const options = random === undefined ? {} : { random }
  const { pair: first, created, guarded } = await loadOrCreateKeyFile(path, options)
  let pair = first
  const next = besides(path, 'next')

  async function prepared(): Promise<KeyPair | undefined> {
    try {
      return (await loadKeyFile(next)).pair
    } catch (cause) {
      if (cause instanceof Failure && cause.code === 'key_file_missing') return undefined
      throw cause
    }
  }

  async function reload(): Promise<boolean> {
    const before = pair.id
    pair = (await loadKeyFile(path)).pair
    return pair.id !== before
  }

  return {
    pair: () => pair,
    created,
    guarded,
    prepared,
    prepare: async () => (await loadOrCreateKeyFile(next, options)).pair,
    promote: async () => {
      // Another copy of the agent may have done it already.
      if ((await prepared()) !== undefined) {
        await retire(path, besides(path, pair.id.slice(0, 8)))
        await rename(next, path)
      }
      await reload()
    },
    reload,
  }
}

/** For tests and tries: gone with the process. */
export function keysInMemory(random?: Random, first = generateKeyPair(random)): Keys {
  let pair = first
  let next: KeyPair | undefined
  return {
    pair: () => pair,
    created: true,
    guarded: false,
    prepared: async () => next,
    prepare: async () => {
      next ??= generateKeyPair(random)
      return next
    },
    promote: async () => {
      pair = next ?? pair
      next = undefined
    },
    reload: async () => false,
  }
}

/** `key.json` → `key-next.json`. */
function besides(path: string, word: string): string {
  const extension = extname(path)
  return join(dirname(path), `${basename(path, extension)}-${word}${extension}`)
}

/** A promotion that broke off may have named it already. */
async function retire(path: string, retired: string): Promise<void> {
  try {
    await link(path, retired)
  } catch (cause) {
    const [file, other] = await Promise.all([stat(path), stat(retired)]).catch(() => [])
    if (file === undefined || file.ino !== other?.ino) {
      throw new Failure('key_file_unwritable', retired, cause)
    }
  }
}
