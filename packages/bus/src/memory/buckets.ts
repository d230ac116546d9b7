/** Buckets of the in-process broker: last values by key, for as long as the bucket's plan says. */
import type { Instant } from '@chimera/domain/ids'
import { Failure } from '../failure.ts'
import type { BucketPlan } from '../plan.ts'
import type { Bucket } from '../port.ts'

type Value = { readonly bytes: Uint8Array; readonly at: Instant }

export function createMemoryBucket(plan: BucketPlan, now: () => Instant): Bucket {
  // Put again means put last, so that the oldest is always in front.
  const values = new Map<string, Value>()
  let total = 0

  function drop(key: string): void {
    total -= sizeOf(key, values.get(key))
    values.delete(key)
  }

  function expire(): void {
    for (const [key, { at }] of values) {
      if (at + plan.ttlMs > now()) return
      drop(key)
    }
  }

  function put(key: string, bytes: Uint8Array): void {
    expire()
    const value = { bytes: new Uint8Array(bytes), at: now() }
    const grown = total - sizeOf(key, values.get(key)) + sizeOf(key, value)
    if (grown > plan.keepBytes) throw new Failure('bucket_full', plan.name)
    drop(key)
    values.set(key, value)
    total = grown
  }

  return {
    put: async (key, bytes) => put(key, bytes),
    add: async (key, bytes) => {
      expire()
      if (values.has(key)) return false
      put(key, bytes)
      return true
    },
    get: async (key) => {
      expire()
      const value = values.get(key)
      return value && new Uint8Array(value.bytes)
    },
    remove: async (key) => drop(key),
    all: async () => {
      expire()
      return new Map([...values].map(([key, { bytes }]) => [key, new Uint8Array(bytes)]))
    },
  }
}

function sizeOf(key: string, value: Value | undefined): number {
  return value === undefined ? 0 : key.length + value.bytes.length
}
