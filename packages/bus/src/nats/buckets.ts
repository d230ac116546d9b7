/**
 * Buckets over JetStream's key-value store. The time to live is the bucket's (NATS below 2.11
 * ignores a key's own), one value for each key, and a full bucket takes nothing new.
 */
import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream'
import { type KV, Kvm } from '@nats-io/kv'
import { nanos } from '@nats-io/transport-node'
import { Failure } from '../failure.ts'
import type { BucketPlan } from '../plan.ts'
import type { Bucket } from '../port.ts'
import { failureOf } from './streams.ts'

// The broker's own memory of ids, which a bucket does not use, may not outlast its values.
const IDS_MS = 120_000

export async function openBucket(
  client: JetStreamClient,
  manager: JetStreamManager,
  plan: BucketPlan,
): Promise<Bucket> {
  const { name, ttlMs, keepBytes, replicas = 1 } = plan
  const values = await new Kvm(client).create(name, {
    history: 1,
    ttl: ttlMs,
    max_bytes: keepBytes,
    replicas,
  })
  // One that was there already keeps its old limits until it is told.
  const limits = { max_age: nanos(ttlMs), max_bytes: keepBytes, num_replicas: replicas }
  const { config } = await manager.streams.info(`KV_${name}`)
  const { max_age, max_bytes, num_replicas } = config
  const kept = { max_age, max_bytes, num_replicas }
  if (JSON.stringify(kept) !== JSON.stringify(limits)) {
    const duplicate_window = nanos(Math.min(ttlMs, IDS_MS))
    await manager.streams.update(`KV_${name}`, { ...limits, duplicate_window })
  }
  return bucketOver(values, name)
}

// A full store answers with this text and no code of its own.
const FULL = /maximum bytes exceeded/
// "Wrong last sequence": there is a value already.
const TAKEN = 10_071

function bucketOver(values: KV, name: string): Bucket {
  async function attempt<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await run()
    } catch (error) {
      const failure = failureOf(error, `bucket ${name}`)
      if (FULL.test(failure.detail)) throw new Failure('bucket_full', name, { cause: error })
      throw failure
    }
  }

  return {
    put: (key, bytes) =>
      attempt(async () => {
        await values.put(key, bytes)
      }),
    add: (key, bytes) =>
      attempt(async () => {
        try {
          await values.create(key, bytes)
          return true
        } catch (error) {
          if (error instanceof Error && 'code' in error && error.code === TAKEN) return false
          throw error
        }
      }),
    get: (key) =>
      attempt(async () => {
        const entry = await values.get(key)
        return entry?.operation === 'PUT' ? new Uint8Array(entry.value) : undefined
      }),
    remove: (key) => attempt(() => values.purge(key)),
    all: () =>
      attempt(async () => {
        const found = new Map<string, Uint8Array>()
        // With one value for each key, the history is all that there is.
        for await (const { key, operation, value } of await values.history()) {
          if (operation === 'PUT') found.set(key, new Uint8Array(value))
        }
        return found
      }),
  }
}
