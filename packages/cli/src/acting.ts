/**
 * Acting as an agent: its id and its key, from the directory where it keeps both.
 *
 *   A1  Nothing is made here: whoever speaks as an agent must have been one before.
 */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isUuid } from '@chimera/dialects/wire'
import type { KeyPair } from '@chimera/identity/keys'
import { readKey } from './key-pair.ts'
import { MISUSED, Trouble } from './trouble.ts'

export type Acting = { readonly agent: string; readonly key: KeyPair; readonly directory: string }

/** Where agents of this folder keep themselves, unless they are told otherwise. */
const HOME = '.chimera'

export async function readActing(directory: string, flag: string): Promise<Acting> {
  const agent = idIn(await readFile(join(directory, 'agent.json'), 'utf8').catch(() => ''))
  if (agent === undefined) {
    throw new Trouble(
      [
        `${flag}: expected the directory where an agent keeps its id and key, with agent.json and`,
        `key.json in it; came ${JSON.stringify(directory)}.`,
        'An agent makes it at its first start: .chimera/<name> beside where it was started.',
      ],
      MISUSED,
    )
  }
  return { agent, directory, key: await readKey(join(directory, 'key.json')) }
}

/** The one that is named, or the only one of this folder. */
export async function findActing(named: string | undefined, flag: string): Promise<Acting> {
  if (named !== undefined) return readActing(named, flag)
  const folders = await readdir(HOME).catch(() => [])
  const found: string[] = []
  for (const each of folders) {
    const text = await readFile(join(HOME, each, 'agent.json'), 'utf8').catch(() => '')
    if (idIn(text) !== undefined) found.push(join(HOME, each))
  }
  const [only] = found
  if (only !== undefined && found.length === 1) return readActing(only, flag)
  throw new Trouble(
    found.length === 0
      ? `No agent was started in this folder: say ${flag} <directory>, where its key is kept.`
      : `Which agent? Say one of ${found.map((each) => `${flag} ${each}`).join(', ')}.`,
    MISUSED,
  )
}

function idIn(text: string): string | undefined {
  try {
    const kept: unknown = JSON.parse(text)
    if (typeof kept !== 'object' || kept === null || !('agent_id' in kept)) return undefined
    const { agent_id: id } = kept
    return typeof id === 'string' && isUuid(id) ? id : undefined
  } catch {
    return undefined
  }
}
