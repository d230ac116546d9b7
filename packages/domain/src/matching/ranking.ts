/**
 * An order by criteria, the first one first. The same table sorts and explains, so what a hit says
 * about its place cannot differ from how it got there (P-6).
 */
export type Figure = number | string

export type Criterion<Item, By extends string> = {
  readonly by: By
  readonly best: 'highest' | 'lowest'
  readonly of: (item: Item) => Figure
}

/** What put an item behind another, with the figures of both. */
export type Behind<By extends string> = {
  readonly by: By
  readonly own: Figure
  readonly theirs: Figure
}

/** Negative when `a` stands before `b`; 0 only when they are alike in everything. */
export function comparing<Item>(criteria: readonly Criterion<Item, string>[]) {
  return (a: Item, b: Item): number => {
    for (const { of, best } of criteria) {
      const first = of(a)
      const second = of(b)
      if (first !== second) return first < second === (best === 'lowest') ? -1 : 1
    }
    return 0
  }
}

/** Undefined only when they are alike in everything. */
export function whyBehind<Item, By extends string>(
  criteria: readonly Criterion<Item, By>[],
  { item, above }: { readonly item: Item; readonly above: Item },
): Behind<By> | undefined {
  for (const { of, by } of criteria) {
    const own = of(item)
    const theirs = of(above)
    if (own !== theirs) return { by, own, theirs }
  }
  return undefined
}
