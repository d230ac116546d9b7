/**
 * Chance and identifiers as something that is handed in.
 *
 *   K1  `fraction` is at least 0 and below 1, in steps of 2⁻⁵³.
 *   K2  Identifiers are UUIDs of RFC 9562: version 4, or version 7, which sorts by time.
 *   K3  Of one source, each version 7 sorts after the one before, in the same millisecond and after
 *       a step back of the clock too.
 *   K4  One seed gives one sequence, on every machine; the seeded source is for tests and must
 *       never make a secret.
 */
import { createHash, randomFillSync, randomUUID } from 'node:crypto'
import type { Instant } from '@chimera/domain/ids'

export type Chance = {
  readonly bytes: (count: number) => Uint8Array
  readonly fraction: () => number
  readonly uuid: () => string
  /** Made from the time given, so that rows with it are kept in the order of their making. */
  readonly uuidV7: (now: Instant) => string
}

// Asking the system costs more than an identifier does, so 256 of them are asked for together.
const POOL_BYTES = 16 * 256

export function createChance(): Chance {
  const pool = new Uint8Array(POOL_BYTES)
  let used = POOL_BYTES
  const draw = (count: number): Uint8Array => {
    if (used + count > POOL_BYTES) {
      randomFillSync(pool)
      used = 0
    }
    used += count
    return pool.slice(used - count, used)
  }
  const chance = chanceFrom((count) => randomFillSync(new Uint8Array(count)), draw)
  const ticks = createTicks(() => fractionFrom(draw(8)))
  // Many are made in one millisecond, whose text is written once.
  const written = { ms: Number.NaN, text: '' }
  return {
    ...chance,
    uuid: () => randomUUID(),
    // Node has random identifiers in store: only the time and the version are written over one.
    uuidV7(now) {
      const { ms, count } = ticks(now)
      if (ms !== written.ms) {
        const time = ms.toString(16).padStart(12, '0')
        written.text = `${time.slice(0, 8)}-${time.slice(8)}-7`
        written.ms = ms
      }
      const counted = (COUNTS + count).toString(16).slice(1)
      return `${written.text}${counted}${randomUUID().slice(18)}`
    },
  }
}

export function createSeededChance(seed: number | string): Chance {
  let block = Buffer.alloc(0)
  let blocks = 0
  let at = 0
  const byte = (): number => {
    if (at === block.length) {
      block = createHash('sha256').update(`${seed}/${blocks}`).digest()
      blocks += 1
      at = 0
    }
    at += 1
    return block[at - 1] ?? 0
  }
  return chanceFrom((count) => Uint8Array.from({ length: count }, byte))
}

// Version 7 has 48 bits of time, and 12 that count within a millisecond.
const COUNTS = 2 ** 12

/** K3: the time of the next version 7, and which one it is in that time. */
function createTicks(fraction: () => number) {
  let ms = 0
  let count = 0
  return (now: Instant): { readonly ms: number; readonly count: number } => {
    const at = Math.floor(now)
    if (at > ms) {
      ms = at
      // Beginning in the lower half leaves room to count up (RFC 9562, 6.2).
      count = Math.floor(fraction() * (COUNTS / 2))
    } else if (count + 1 < COUNTS) count += 1
    else {
      ms += 1
      count = 0
    }
    return { ms, count }
  }
}

function fractionFrom(drawn: Uint8Array): number {
  const view = new DataView(drawn.buffer)
  // 21 and 32 bits make the 53 that a number holds.
  return ((view.getUint32(0) >>> 11) * 2 ** 32 + view.getUint32(4)) / 2 ** 53
}

/** Identifiers are no secrets, and `draw` may give what they are made of from another place. */
function chanceFrom(bytes: Chance['bytes'], draw: Chance['bytes'] = bytes): Chance {
  const ticks = createTicks(() => fractionFrom(draw(8)))

  function uuidV7(now: Instant): string {
    const { ms, count } = ticks(now)
    const text = draw(16)
    const view = new DataView(text.buffer)
    view.setUint32(0, Math.floor(ms / 2 ** 16))
    view.setUint16(4, ms % 2 ** 16)
    view.setUint16(6, count)
    return format(text, 7)
  }

  return {
    bytes,
    fraction: () => fractionFrom(bytes(8)),
    uuid: () => format(draw(16), 4),
    uuidV7,
  }
}

function format(text: Uint8Array, version: number): string {
  text[6] = ((text[6] ?? 0) & 0x0f) | (version << 4)
  text[8] = ((text[8] ?? 0) & 0x3f) | 0x80
  const hex = Buffer.from(text.buffer).toString('hex')
  const [a, b, c] = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16)]
  return `${a}-${b}-${c}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
