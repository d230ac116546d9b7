/**
 * A list that stays in order while members come and go, in pieces so short that moving their
 * members costs next to nothing. What is asked for from the top costs what is looked at, however
 * many there are; how many are light enough, or marked, is known piece by piece.
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
  readonly within?: ((item: Item) => boolean) | undefined
  /** Heavier ones are passed over. */
  readonly most?: number | undefined
  /** All others are passed over. */
  readonly marked?: boolean
}

export type Measures<Item> = {
  readonly compare: (a: Item, b: Item) => number
  /** Never falls along the order: where it tells two apart, they are not looked at. */
  readonly roughly?: (item: Item) => number
  readonly weightOf?: (item: Item) => number
  readonly isMarked?: (item: Item) => boolean
}

/** Both lists of weights are in order; the rough numbers stand as their items do. */
type Piece<Item> = {
  readonly items: Item[]
  readonly rough: number[]
  readonly weights: number[]
  readonly marked: number[]
}

// Moving 256 references is about as quick as finding the place among them.
const LONGEST = 512

export function createOrdered<Item>(measures: Measures<Item>): Ordered<Item> {
  const { compare, roughly = () => 0, weightOf = () => 0, isMarked = () => false } = measures
  const pieces: Piece<Item>[] = []
  let size = 0

  /** The piece that the item is in or would be in: the first whose last member is not before it. */
  function pieceFor(item: Item, rough: number): number {
    let low = 0
    let high = pieces.length - 1
    while (low < high) {
      const middle = (low + high) >> 1
      const piece = pieces[middle]
      if (piece !== undefined && isBefore(piece, piece.items.length - 1, item, rough)) {
        low = middle + 1
      } else high = middle
    }
    return low
  }

  function placeIn(piece: Piece<Item>, item: Item, rough: number): number {
    let low = 0
    let high = piece.items.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (isBefore(piece, middle, item, rough)) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Whether the member at a place stands before an item. */
  function isBefore(piece: Piece<Item>, at: number, item: Item, rough: number): boolean {
    const number = piece.rough[at]
    if (number !== undefined && number !== rough) return number < rough
    const member = piece.items[at]
    return member !== undefined && compare(member, item) < 0
  }

  const pieceOf = (items: Item[]): Piece<Item> => ({
    items,
    rough: items.map(roughly),
    weights: items.map(weightOf).sort(ascending),
    marked: items.filter(isMarked).map(weightOf).sort(ascending),
  })

  function split(at: number, { items }: Piece<Item>): void {
    const rest = items.slice(LONGEST >> 1)
    pieces.splice(at, 1, pieceOf(items.slice(0, LONGEST >> 1)), pieceOf(rest))
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

  const fits = (item: Item, { most, marked }: Bounds<Item>): boolean =>
    (most === undefined || weightOf(item) <= most) && (!marked || isMarked(item))

  /** How many of a piece stand before the end. */
  function lengthWithin({ items }: Piece<Item>, { within }: Bounds<Item>): number {
    const last = items.at(-1)
    if (within === undefined || last === undefined || within(last)) return items.length
    let low = 0
    let high = items.length
    while (low < high) {
      const middle = (low + high) >> 1
      const member = items[middle]
      if (member !== undefined && within(member)) low = middle + 1
      else high = middle
    }
    return low
  }

  /** How many of the first so many of a piece are within the other bounds. */
  function countIn(piece: Piece<Item>, length: number, bounds: Bounds<Item>): number {
    const { most, marked } = bounds
    if (most === undefined && !marked) return length
    if (length === piece.items.length) {
      const weights = marked ? piece.marked : piece.weights
      return most === undefined ? weights.length : countUpTo(weights, most)
    }
    let count = 0
    for (let at = 0; at < length; at += 1) {
      const item = piece.items[at]
      if (item !== undefined && fits(item, bounds)) count += 1
    }
    return count
  }

  return {
    add(item) {
      const number = roughly(item)
      const at = pieceFor(item, number)
      const piece = pieces[at]
      size += 1
      if (piece === undefined) {
        pieces.push(pieceOf([item]))
        return
      }
      const { items, rough, weights, marked } = piece
      const place = placeIn(piece, item, number)
      const weight = weightOf(item)
      items.splice(place, 0, item)
      rough.splice(place, 0, number)
      weights.splice(countUpTo(weights, weight), 0, weight)
      if (isMarked(item)) marked.splice(countUpTo(marked, weight), 0, weight)
      if (items.length > LONGEST) split(at, piece)
    },

    remove(item) {
      const number = roughly(item)
      const at = pieceFor(item, number)
      const piece = pieces[at]
      if (piece === undefined) return false
      const { items, rough, weights, marked } = piece
      const place = placeIn(piece, item, number)
      const member = items[place]
      if (member === undefined || compare(member, item) !== 0) return false
      const weight = weightOf(member)
      items.splice(place, 1)
      rough.splice(place, 1)
      weights.splice(countUpTo(weights, weight) - 1, 1)
      if (isMarked(member)) marked.splice(countUpTo(marked, weight) - 1, 1)
      if (items.length === 0) pieces.splice(at, 1)
      else if (items.length < LONGEST >> 2) join(at)
      size -= 1
      return true
    },

    *all() {
      for (const { items } of pieces) yield* items
    },
    size: () => size,

    count(bounds) {
      if (bounds.within === undefined && bounds.most === undefined && !bounds.marked) return size
      let total = 0
      for (const piece of pieces) {
        const length = lengthWithin(piece, bounds)
        total += countIn(piece, length, bounds)
        if (length < piece.items.length) break
      }
      return total
    },

    slice(bounds, from, until) {
      const found: Item[] = []
      let skip = from
      for (const piece of pieces) {
        if (found.length >= until - from) break
        const { items } = piece
        const length = lengthWithin(piece, bounds)
        const count = countIn(piece, length, bounds)
        if (skip >= count) skip -= count
        else {
          // Where all fit, the first one wanted is known; else those before it are counted.
          let at = count === length ? skip : 0
          if (count === length) skip = 0
          for (; at < length && found.length < until - from; at += 1) {
            const item = items[at]
            if (item === undefined || !fits(item, bounds)) continue
            if (skip > 0) skip -= 1
            else found.push(item)
          }
        }
        if (length < items.length) break
      }
      return found
    },
  }
}

const ascending = (one: number, other: number): number => one - other

/** How many of these, which are in order, are at most so much. */
function countUpTo(weights: readonly number[], most: number): number {
  let low = 0
  let high = weights.length
  while (low < high) {
    const middle = (low + high) >> 1
    const weight = weights[middle]
    if (weight !== undefined && weight <= most) low = middle + 1
    else high = middle
  }
  return low
}
