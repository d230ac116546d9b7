/**
 * The memory of feeds in a file, so that velocity and conditional requests outlive the process.
 *
 *   K1  A file is replaced whole or not at all.
 *   K2  One that is missing, broken or of another time is as good as none: feeds are read anew.
 *   K3  Addresses are kept by their hash, since they may hold keys.
 */
import { createHash } from 'node:crypto'
import { readFile, rename, writeFile } from 'node:fs/promises'
import type { Seen } from './memory.ts'
import type { FeedState } from './reader.ts'

export type Kept = {
  readonly seen: readonly Seen[]
  readonly states: ReadonlyMap<string, FeedState>
}

const VERSION = 1
const MOST_BYTES = 32 * 1024 * 1024
const NOTHING: Kept = { seen: [], states: new Map() }

export async function readKept(path: string, urls: readonly string[]): Promise<Kept> {
  try {
    const text = await readFile(path, 'utf8')
    if (text.length > MOST_BYTES) return NOTHING
    const kept: { version: number; seen: Seen[]; states: [string, FeedState][] } = JSON.parse(text)
    if (kept.version !== VERSION) return NOTHING
    const states = new Map(kept.states)
    const known = urls.flatMap((url) => {
      const state = states.get(hashOf(url))
      return state === undefined ? [] : [[url, state] as const]
    })
    return { seen: kept.seen.filter(isWhole), states: new Map(known) }
  } catch {
    return NOTHING
  }
}

export async function writeKept(path: string, { seen, states }: Kept): Promise<void> {
  const hashed = [...states].map(([url, state]) => [hashOf(url), state])
  const text = JSON.stringify({ version: VERSION, seen, states: hashed })
  const beside = `${path}.${process.pid}.new`
  await writeFile(beside, text, { mode: 0o600 })
  await rename(beside, path)
}

const hashOf = (url: string): string => createHash('sha256').update(url).digest('hex')

/** Enough to go on with: what is computed from it is checked as every trend is. */
function isWhole(seen: Seen): boolean {
  const { entry, feed, readings, firstAt, lastAt, decay } = seen
  return (
    typeof entry.topic === 'string' &&
    typeof entry.id === 'string' &&
    Array.isArray(entry.tags) &&
    typeof feed.platform === 'string' &&
    Array.isArray(readings) &&
    [firstAt, lastAt, decay].every(Number.isFinite)
  )
}
