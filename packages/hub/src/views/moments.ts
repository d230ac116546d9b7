/** What is to be looked at again at a moment, the earliest first: a binary heap. */
import type { Instant } from '@chimera/domain/ids'

export type Moments<Item> = {
  readonly add: (at: Instant, item: Item) => void
  /** The earliest that has come; it is no longer in here. */
  readonly takeDue: (now: Instant) => { readonly at: Instant; readonly item: Item } | undefined
}

type Moment<Item> = { readonly at: Instant; readonly item: Item }

export function createMoments<Item>(): Moments<Item> {
  const heap: Moment<Item>[] = []

  const atOf = (index: number): Instant => heap[index]?.at ?? Number.POSITIVE_INFINITY

  function rise(index: number, moment: Moment<Item>): void {
    let place = index
    while (place > 0) {
      const parent = heap[(place - 1) >> 1]
      if (parent === undefined || parent.at <= moment.at) break
      heap[place] = parent
      place = (place - 1) >> 1
    }
    heap[place] = moment
  }

  function sink(moment: Moment<Item>): void {
    let place = 0
    for (;;) {
      const left = 2 * place + 1
      const child = atOf(left + 1) < atOf(left) ? left + 1 : left
      const lower = heap[child]
      if (lower === undefined || moment.at <= lower.at) break
      heap[place] = lower
      place = child
    }
    heap[place] = moment
  }

  return {
    add(at, item) {
      rise(heap.length, { at, item })
    },
    takeDue(now) {
      const first = heap[0]
      if (first === undefined || first.at > now) return undefined
      const last = heap.pop()
      if (last !== undefined && heap.length > 0) sink(last)
      return first
    },
  }
}
