/**
 * Keccak-256, the hash that the chains use. It is not SHA3-256, which pads otherwise, and Node has
 * only that; a whole library for the checksum of an address would be too much. For texts of one
 * block (135 bytes), which is all that is hashed here.
 */
const RATE = 136
const MASK = (1n << 64n) - 1n
const ROUNDS = 24

/** The round constants come out of a shift register of eight bits. */
const CONSTANTS: readonly bigint[] = roundConstants()
/** How far the lane at x + 5y is turned. */
const TURNS: readonly bigint[] = turns()

export function keccak256(text: Uint8Array): Uint8Array {
  if (text.length >= RATE) throw new RangeError(`at most ${RATE - 1} bytes`)
  const block = new Uint8Array(RATE)
  block.set(text)
  block[text.length] = 0x01
  block[RATE - 1] = (block[RATE - 1] ?? 0) | 0x80
  const view = new DataView(block.buffer)
  const state = Array.from({ length: 25 }, (_, at) =>
    at < RATE / 8 ? view.getBigUint64(at * 8, true) : 0n,
  )
  const out = new DataView(new ArrayBuffer(32))
  const mixed = permute(state)
  for (let at = 0; at < 4; at += 1) out.setBigUint64(at * 8, mixed[at] ?? 0n, true)
  return new Uint8Array(out.buffer)
}

function permute(first: readonly bigint[]): readonly bigint[] {
  let state = first
  for (let round = 0; round < ROUNDS; round += 1) {
    const lane = (x: number, y: number): bigint => state[(x % 5) + 5 * (y % 5)] ?? 0n
    const columns = [0, 1, 2, 3, 4].map(
      (x) => lane(x, 0) ^ lane(x, 1) ^ lane(x, 2) ^ lane(x, 3) ^ lane(x, 4),
    )
    const column = (x: number): bigint => columns[x % 5] ?? 0n
    const moved: bigint[] = []
    for (let y = 0; y < 5; y += 1) {
      for (let x = 0; x < 5; x += 1) {
        const mixed = lane(x, y) ^ column(x + 4) ^ turned(column(x + 1), 1n)
        moved[y + 5 * ((2 * x + 3 * y) % 5)] = turned(mixed, TURNS[x + 5 * y] ?? 0n)
      }
    }
    const at = (x: number, y: number): bigint => moved[(x % 5) + 5 * y] ?? 0n
    state = moved.map((_, place) => {
      const [x, y] = [place % 5, Math.floor(place / 5)]
      const mixed = at(x, y) ^ (~at(x + 1, y) & MASK & at(x + 2, y))
      return place === 0 ? mixed ^ (CONSTANTS[round] ?? 0n) : mixed
    })
  }
  return state
}

const turned = (lane: bigint, by: bigint): bigint => ((lane << by) | (lane >> (64n - by))) & MASK

function turns(): readonly bigint[] {
  const all = Array.from({ length: 25 }, () => 0n)
  let [x, y] = [1, 0]
  for (let step = 0; step < ROUNDS; step += 1) {
    all[x + 5 * y] = BigInt((((step + 1) * (step + 2)) / 2) % 64)
    ;[x, y] = [y, (2 * x + 3 * y) % 5]
  }
  return all
}

function roundConstants(): readonly bigint[] {
  let register = 1
  return Array.from({ length: ROUNDS }, () => {
    let constant = 0n
    for (let bit = 0; bit < 7; bit += 1) {
      if (register & 1) constant |= 1n << BigInt(2 ** bit - 1)
      register <<= 1
      if (register & 0x100) register ^= 0x171
    }
    return constant
  })
}
