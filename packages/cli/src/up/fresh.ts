/**
 * Forgetting what an earlier `chimera up` has left.
 *
 *   F1  Only what it makes itself is removed, whatever folder was named: a home that was named by
 *       mistake is still one afterwards.
 *   F2  Nothing is taken away under a network that runs.
 */
import { readdir, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { lockDirectory } from '@chimera/store/engine/lock'
import { ownerTokenIn, UP_HOME } from './here.ts'
import { operatorTokenIn } from './tokens.ts'

export const HUB_DATA = 'hub'
export const FLEET_DATA = 'fleet'
export const SKILL_DATA = 'skills'
export const LOG_FILE = 'log.jsonl'

const MADE = [
  HUB_DATA,
  FLEET_DATA,
  SKILL_DATA,
  LOG_FILE,
  'network.json',
  ownerTokenIn(''),
  operatorTokenIn(''),
]

/** What of it is there. */
export async function leftIn(directory: string = UP_HOME): Promise<readonly string[]> {
  const names: readonly string[] = await readdir(directory).catch(() => [])
  return MADE.filter((name) => names.includes(name))
}

/** Returns what was removed. */
export async function forget(directory: string): Promise<readonly string[]> {
  const left = await leftIn(directory)
  // F2. Taken and not given back: the lock goes with the rest.
  if (left.includes(HUB_DATA)) await lockDirectory(join(directory, HUB_DATA))
  for (const name of left) await rm(join(directory, name), { recursive: true, force: true })
  // Where there is something else in it, it stays.
  await rmdir(directory).catch(() => undefined)
  return left
}
