/** What the tests of the bus do with their hands: clocks, chance, messages, waiting for things. */
import assert from 'node:assert/strict'
import { randomFillSync } from 'node:crypto'
import type { CorrelationId, Instant, MessageId } from '@chimera/domain/ids'
import { type FailureCode, hasCode } from '../src/failure.ts'
import type { BusChance, BusClock } from '../src/link.ts'
import type { DurableMessage, Message, Received } from '../src/message.ts'
import type { Bus, BusEvent } from '../src/port.ts'

export const realClock: BusClock = {
  now: () => Date.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms)
    return { cancel: () => clearTimeout(timer) }
  },
}

export const realChance: BusChance = {
  bytes: (count) => randomFillSync(new Uint8Array(count)),
  fraction: () => Math.random(),
}

export type HandClock = BusClock & { readonly pass: (ms: number) => Promise<void> }

/** Stands still until it is told to move. */
export function createHandClock(): HandClock {
  const timers = new Set<{ readonly at: Instant; readonly run: () => void }>()
  let now = 1_000_000
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  return {
    now: () => now,
    after: (ms, run) => {
      const timer = { at: now + ms, run }
      timers.add(timer)
      return { cancel: () => timers.delete(timer) }
    },
    pass: async (ms) => {
      const end = now + ms
      for (;;) {
        await settle()
        const due = [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
        if (due === undefined) break
        timers.delete(due)
        now = due.at
        due.run()
      }
      now = end
    },
  }
}

/** Always the same, in the middle. */
export const evenChance: BusChance = {
  bytes: (count) => new Uint8Array(count).fill(7),
  fraction: () => 0.5,
}

export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
export const textOf = ({ bytes }: { readonly bytes: Uint8Array }): string =>
  new TextDecoder().decode(bytes)

export function say(subject: string, text: string, correlation?: string): Message {
  const bytes = bytesOf(text)
  if (correlation === undefined) return { subject, bytes }
  return { subject, bytes, headers: { correlation: correlation as CorrelationId } }
}

export function durable(subject: string, text: string, id = text): DurableMessage {
  return { subject, bytes: bytesOf(text), headers: { id: id as MessageId } }
}

/** The next so many; fails when the end comes before. */
export async function take<T>(from: AsyncIterator<T>, count: number): Promise<T[]> {
  const taken: T[] = []
  while (taken.length < count) {
    const { done, value } = await from.next()
    assert.notEqual(done, true, `ended after ${taken.length} of ${count}`)
    taken.push(value)
  }
  return taken
}

export async function texts(from: AsyncIterator<Received>, count: number): Promise<string[]> {
  return (await take(from, count)).map(textOf)
}

export const iterate = <T>(from: AsyncIterable<T>): AsyncIterator<T> => from[Symbol.asyncIterator]()

/** Resolves with the first such event from now on. */
export function eventOf<T extends BusEvent['type']>(bus: Bus, type: T): Promise<EventOf<T>> {
  return new Promise((resolve) => {
    const stop = bus.watch((event) => {
      if (!isOf(event, type)) return
      stop()
      resolve(event)
    })
  })
}
type EventOf<T extends BusEvent['type']> = Extract<BusEvent, { readonly type: T }>
const isOf = <T extends BusEvent['type']>(event: BusEvent, type: T): event is EventOf<T> =>
  event.type === type

export async function connected(bus: Bus): Promise<Bus> {
  if (bus.state().type !== 'connected') await eventOf(bus, 'connected')
  return bus
}

export async function away(bus: Bus): Promise<void> {
  if (bus.state().type !== 'away') await eventOf(bus, 'away')
}

export const failing = (code: FailureCode) => (error: unknown) => {
  assert.ok(hasCode(error, code), `expected ${code}, got ${String(error)}`)
  return true
}
