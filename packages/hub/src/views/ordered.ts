/**
 * A list that stays in order while members come and go, in pieces so short that moving their
 * members costs next to nothing. What is asked for from the top costs what is looked at, however
 * many there are; how many are light enough is known piece by piece.
 *
 *   L1  The order is total: two members that compare as equal are the same member.
 *   L2  Every piece has at least one member and at most `LONGEST`, and the weights of just these.
 *   L3  Two neighbours that fit into half a piece are made one, so that there are never many more
 *       pieces than a list of that size needs.
 */
export type Ordered<Item> = {
  readonly add: (item: Item) => void
  /** Whether it was there. */
  readonly remove: (item: Item) => boolean
  /** From the first one on. Nothing may be added or removed while this is read. */
  readonly all: () => Iterable<Item>
  readonly size: () => number
  readonly count: (bounds: Bounds<Item>) => number
  /** Of those within the bounds, from a place on (0 is the first) up to but not including one. */
  readonly slice: (bounds: Bounds<Item>, from: number, until: number) => readonly Item[]
}

export type Bounds<Item> = {
  /** True for the first ones, and false from some place on for all others. */
  readonly within?: (item: Item) => boolean
  /** Heavier ones are passed over. */
  readonly most?: number | undefined
}

type Piece<Item> = { readonly items: Item[]; readonly weights: number[] }

// Moving 256 references is about as quick as finding the place among them.
const LONGEST = 512

export function createOrdered<Item>(
  compare: (a: Item, b: Item) => number,
  weightOf: (item: Item) => number = () => 0,
): Ordered<Item> {
  const pieces: Piece<Item>[] = []
  let size = 0

  /** The piece that the item is in or would be in: the first whose last member is not before it. */
  function pieceFor(item: Item): number {
    const isBefore = ({ items }: Piece<Item>) => {
      const last = items.at(-1)
      return last !== undefined && compare(last, item) < 0
    }
    return Math.min(countFirst(pieces, isBefore), Math.max(0, pieces.length - 1))
  }

  const placeIn = ({ items }: Piece<Item>, item: Item): number =>
    countFirst(items, (member) => compare(member, item) < 0)

  const pieceOf = (items: Item[]): Piece<Item> => ({
    items,
    weights: items.map(weightOf).sort(ascending),
  })

  function split(at: number, { items }: Piece<Item>): void {
    const rest = items.splice(LONGEST >> 1)
    pieces.splice(at, 1, pieceOf(items), pieceOf(rest))
  }

  /** L3, where a piece has lost a member. */
  function join(at: number): void {
    for (const first of [at - 1, at]) {
      const [one, other] = [pieces[first], pieces[first + 1]]
      if (one === undefined || other === undefined) continue
      if (one.items.length + other.items.length > LONGEST >> 1) continue
      pieces.splice(first, 2, pieceOf([...one.items, ...other.items]))
      return
    }
  }

  /** What each piece has within the bounds, from the first to the last that has any. */
  function* within({ within: isWithin, most }: Bounds<Item>): Iterable<Part<Item>> {
    for (const { items, weights } of pieces) {
      const last = items.at(-1)
      const isWhole = isWithin === undefined || (last !== undefined && isWithin(last))
      const length = isWhole ? items.length : countFirst(items, isWithin)
      const isLight = (item: Item) => most === undefined || weightOf(item) <= most
      if (most === undefined) yield { items, length, count: length, isLight }
      else {
        const count = isWhole
          ? countFirst(weights, (weight) => weight <= most)
          : countLight(items, length, isLight)
        yield { items, length, count, isLight }
      }
      if (!isWhole) return
    }
  }

  return {
    add(item) {
      const at = pieceFor(item)
      const piece = pieces[at]
      size += 1
      if (piece === undefined) {
        pieces.push(pieceOf([item]))
        return
      }
      const weight = weightOf(item)
      piece.items.splice(placeIn(piece, item), 0, item)
      piece.weights.splice(placeOfWeight(piece.weights, weight), 0, weight)
      if (piece.items.length > LONGEST) split(at, piece)
    },

    remove(item) {
      const at = pieceFor(item)
      const piece = pieces[at]
      if (piece === undefined) return false
      const place = placeIn(piece, item)
      const member = piece.items[place]
      if (member === undefined || compare(member, item) !== 0) return false
      piece.items.splice(place, 1)
      piece.weights.splice(placeOfWeight(piece.weights, weightOf(member)), 1)
      if (piece.items.length === 0) pieces.splice(at, 1)
      else if (piece.items.length < LONGEST >> 2) join(at)
      size -= 1
      return true
    },

    *all() {
      for (const { items } of pieces) yield* items
    },
    size: () => size,

    count(bounds) {
      let total = 0
      for (const { count } of within(bounds)) total += count
      return total
    },

    slice(bounds, from, until) {
      const found: Item[] = []
      const wanted = until - from
      let skip = from
      for (const { items, length, count, isLight } of within(bounds)) {
        if (found.length >= wanted) break
        if (skip >= count) {
          skip -= count
          continue
        }
        // Where all are light the first one wanted is known; else those before it are counted.
        let at = count === length ? skip : 0
        if (count === length) skip = 0
        for (; at < length && found.length < wanted; at += 1) {
          const item = items[at]
          if (item === undefined || !isLight(item)) continue
          if (skip > 0) skip -= 1
          else found.push(item)
        }
      }
      return found
    },
  }
}

type Part<Item> = {
  readonly items: readonly Item[]
  /** How many of them stand before the end. */
  readonly length: number
  /** And how many of those are light enough. */
  readonly count: number
  readonly isLight: (item: Item) => boolean
}

const ascending = (one: number, other: number): number => one - other

const placeOfWeight = (weights: readonly number[], weight: number): number =>
  countFirst(weights, (each) => each < weight)

/** How many of the first ones hold, where all after the first that does not do not either. */
function countFirst<Item>(items: readonly Item[], holds: (item: Item) => boolean): number {
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >> 1
    const item = items[middle]
    if (item !== undefined && holds(item)) low = middle + 1
    else high = middle
  }
  return low
}

function countLight<Item>(
  items: readonly Item[],
  length: number,
  isLight: (item: Item) => boolean,
): number {
  let count = 0
  for (const item of items.slice(0, length)) if (isLight(item)) count += 1
  return count
}
