/**
 * A list that stays in order while members come and go, in pieces so short that moving their
 * members costs next to nothing. What is asked for from the top costs what is looked at, however
 * many there are.
 *
 *   L1  The order is total: two members that compare as equal are the same member.
 *   L2  Every piece has at least one member and at most `LONGEST`.
 */
export type Ordered<Item> = {
  readonly add: (item: Item) => void
  /** Whether it was there. */
  readonly remove: (item: Item) => boolean
  /** From the first one on. Nothing may be added or removed while this is read. */
  readonly all: () => Iterable<Item>
  readonly size: () => number
}

// Moving 256 references is about as quick as finding the place among them.
const LONGEST = 512

export function createOrdered<Item>(compare: (a: Item, b: Item) => number): Ordered<Item> {
  const pieces: Item[][] = []
  let size = 0

  /** The piece that the item is in or would be in: the first whose last member is not before it. */
  function pieceFor(item: Item): number {
    let low = 0
    let high = pieces.length - 1
    while (low < high) {
      const middle = (low + high) >> 1
      const last = pieces[middle]?.at(-1)
      if (last !== undefined && compare(last, item) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  function placeIn(piece: readonly Item[], item: Item): number {
    let low = 0
    let high = piece.length
    while (low < high) {
      const middle = (low + high) >> 1
      const member = piece[middle]
      if (member !== undefined && compare(member, item) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  return {
    add(item) {
      const at = pieceFor(item)
      const piece = pieces[at]
      size += 1
      if (piece === undefined) {
        pieces.push([item])
        return
      }
      piece.splice(placeIn(piece, item), 0, item)
      if (piece.length > LONGEST) pieces.splice(at + 1, 0, piece.splice(LONGEST >> 1))
    },

    remove(item) {
      const at = pieceFor(item)
      const piece = pieces[at]
      if (piece === undefined) return false
      const place = placeIn(piece, item)
      const member = piece[place]
      if (member === undefined || compare(member, item) !== 0) return false
      piece.splice(place, 1)
      if (piece.length === 0) pieces.splice(at, 1)
      size -= 1
      return true
    },

    *all() {
      for (const piece of pieces) yield* piece
    },
    size: () => size,
  }
}
