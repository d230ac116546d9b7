/** Streams and buckets as they are asked for when a bus is opened. */
import { Failure } from './failure.ts'
import { isPattern, matches } from './subjects.ts'

export type StreamPlan = {
  readonly name: string
  /** What it keeps. No two streams keep the same subject. */
  readonly subjects: readonly string[]
  /** Beyond any of these the oldest go; a follower who still wanted them hears of a gap. */
  readonly keepMs: number
  readonly keepMessages: number
  readonly keepBytes: number
  /**
   * How long ids are remembered. An unanswered message is sent again only within this time: later
   * it would be kept twice. A longer time costs the broker memory.
   */
  readonly dedupeMs: number
  /** Brokers that hold a copy, 1 to 5; odd numbers make sense. */
  readonly replicas?: number
}

export type BucketPlan = {
  readonly name: string
  readonly ttlMs: number
  readonly keepBytes: number
  readonly replicas?: number
}

export type Plans = {
  readonly streams: readonly StreamPlan[]
  readonly buckets: readonly BucketPlan[]
}

// What a broker takes for a name everywhere, folder names included.
const NAME = /^[A-Za-z0-9_-]{1,64}$/
const KEY = /^[A-Za-z0-9_=-]+(\.[A-Za-z0-9_=-]+)*$/
const KEY_CHARS = 255

export function checkPlans({ streams, buckets }: Plans): void {
  for (const { name, subjects, replicas, ...bounds } of streams) {
    const patterns = subjects.length > 0 && subjects.every(isPattern)
    checkPlan(`stream ${name}`, name, bounds, patterns && areReplicas(replicas))
    if (bounds.dedupeMs > bounds.keepMs) {
      throw new Failure('plan_malformed', `stream ${name}: dedupeMs is more than keepMs`)
    }
  }
  for (const { name, replicas, ...bounds } of buckets) {
    checkPlan(`bucket ${name}`, name, bounds, areReplicas(replicas))
  }
  const names = [...streams, ...buckets].map(({ name }) => name)
  if (new Set(names).size < names.length) throw new Failure('plan_malformed', 'a name twice')
}

function checkPlan(
  what: string,
  name: string,
  bounds: Readonly<Record<string, number>>,
  good: boolean,
): void {
  const bounded = Object.values(bounds).every((each) => Number.isSafeInteger(each) && each > 0)
  if (!NAME.test(name) || !bounded || !good) throw new Failure('plan_malformed', what)
}

/** A group is a name at the broker, as a stream is. */
export function checkGroup({ group, pattern }: { group: string; pattern: string }): void {
  if (!NAME.test(group)) throw new Failure('plan_malformed', `group ${group}`)
  if (!isPattern(pattern)) throw new Failure('subject_malformed', `group ${group}`)
}

function areReplicas(count = 1): boolean {
  return Number.isInteger(count) && count >= 1 && count <= 5
}

export function checkKey(key: string): void {
  if (key.length > KEY_CHARS || !KEY.test(key)) {
    throw new Failure('subject_malformed', `key ${JSON.stringify(key.slice(0, KEY_CHARS))}`)
  }
}

export function streamOf(plans: Plans, subject: string): StreamPlan | undefined {
  return plans.streams.find(({ subjects }) => subjects.some((each) => matches(each, subject)))
}
