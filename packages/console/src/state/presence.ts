/** Posts of instances, put together to spans in which somebody was heard. */
import type { Told } from './events.ts'

export type Post = {
  readonly instance_id: string
  readonly state: string
  readonly received_at: string
  readonly expires_at: string
  readonly verification: string
}

/** The feed tells of a post only when it was believed, and not when it lapses. */
export const postOf = ({ instance_id = '', state = '', at }: Told): Post => ({
  instance_id,
  state,
  received_at: at,
  expires_at: new Date(Date.parse(at) + LASTS_MS).toISOString(),
  verification: 'verified',
})

// As long as the usual post does; the next one comes before.
const LASTS_MS = 30_000

export type Span = { readonly begins: number; readonly ends: number; readonly state: string }

/** A post counts until it lapses or another follows; only those that were believed. */
export function spansOf(
  posts: readonly Post[],
  { from, until }: { readonly from: number; readonly until: number },
): readonly Span[] {
  const believed = posts
    .filter(({ verification }) => verification === 'verified')
    .map((post) => ({
      begins: Date.parse(post.received_at),
      ends: Date.parse(post.expires_at),
      state: post.state,
    }))
    .sort((a, b) => a.begins - b.begins)
  const spans: Span[] = []
  believed.forEach(({ begins, ends, state }, index) => {
    const next = believed[index + 1]?.begins ?? until
    const end = Math.min(ends, next, until)
    if (state === 'offline' || end <= from || end <= begins) return
    const last = spans.at(-1)
    if (last !== undefined && last.state === state && begins <= last.ends) {
      spans[spans.length - 1] = { ...last, ends: end }
    } else {
      spans.push({ begins: Math.max(begins, from), ends: end, state })
    }
  })
  return spans
}
