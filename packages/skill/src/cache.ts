/**
 * Answers that are good for a while, bounded in number and in size: what was used least lately goes
 * first. One that is too old stays until then, for those who prefer an old one to none.
 */
import type { Instant } from '@chimera/domain/ids'

export type Cached = { readonly value: unknown; readonly fresh: boolean }

export type Cache = {
  readonly find: (key: string, now: Instant) => Cached | undefined
  readonly put: (key: string, entry: Entry) => void
  readonly size: () => { readonly entries: number; readonly bytes: number }
}

type Entry = { readonly value: unknown; readonly bytes: number; readonly goodUntil: Instant }

export type CacheBounds = { readonly entries: number; readonly bytes: number }

export function createCache(most: CacheBounds): Cache {
  // A map keeps the order of insertion, so the first is the one that was used least lately.
  const entries = new Map<string, Entry>()
  let bytes = 0

  const drop = (key: string): void => {
    bytes -= entries.get(key)?.bytes ?? 0
    entries.delete(key)
  }

  return {
    find(key, now) {
      const entry = entries.get(key)
      if (entry === undefined) return undefined
      entries.delete(key)
      entries.set(key, entry)
      return { value: entry.value, fresh: now < entry.goodUntil }
    },
    put(key, entry) {
      drop(key)
      if (entry.bytes > most.bytes) return
      entries.set(key, entry)
      bytes += entry.bytes
      for (const [oldest] of entries) {
        if (entries.size <= most.entries && bytes <= most.bytes) break
        drop(oldest)
      }
    },
    size: () => ({ entries: entries.size, bytes }),
  }
}
