/**
 * The file by which a hub may let agents onto the broker: the account's public key, and the seed
 * that signs for it. It is written by `chimera broker init`, and is a secret.
 */
import { open } from 'node:fs/promises'

export type GranterFile = { readonly account: string; readonly signingSeed: string }

// Two keys of 58 characters at most; a much larger file is something else.
const MOST_BYTES = 4_096
const OTHERS_ANYTHING = 0o077

export async function readGranterFile(path: string): Promise<GranterFile> {
  const file = await open(path, 'r')
  try {
    // The open file is looked at, not the path: what is checked is what is read.
    const { mode, size } = await file.stat()
    const exposed = process.platform !== 'win32' && (mode & OTHERS_ANYTHING) !== 0
    if (exposed) throw new GranterBroken(`${path} can be read by others; make its mode 0600`)
    if (size > MOST_BYTES) throw new GranterBroken(`${path} has over ${MOST_BYTES} bytes`)
    return granterIn(await file.readFile('utf8'), path)
  } finally {
    await file.close()
  }
}

function granterIn(text: string, path: string): GranterFile {
  const { account, signing_seed } = parsed(text)
  if (typeof account === 'string' && typeof signing_seed === 'string') {
    return { account, signingSeed: signing_seed }
  }
  throw new GranterBroken(`${path} is not what \`chimera broker init\` writes`)
}

/** The parser quotes what it read, which may be half a seed: what it says is not passed on. */
function parsed(text: string): { readonly account?: unknown; readonly signing_seed?: unknown } {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}

export class GranterBroken extends Error {
  readonly code = 'granter_broken'
}
