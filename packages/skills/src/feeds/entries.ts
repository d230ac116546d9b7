/**
 * What stands in a feed: RSS, Atom, RDF and JSON Feed by feedsmith, and Reddit's own lists, which
 * alone say how loud an entry is there.
 *
 *   E1  An entry without a title is none. Its text is one line without markup.
 *   E2  Engagement is what the source counts, and nothing is made up for one that does not.
 */
import { isHttpUrl } from '@chimera/dialects/wire'
import type { Instant } from '@chimera/domain/ids'
import { parseFeed } from 'feedsmith'
import { cleanText, readData } from '../mcp/clean.ts'
import { FeedRefused, inspectXml } from './document.ts'

export type Entry = {
  /** The feed's own name for it. */
  readonly id: string
  readonly topic: string
  readonly url?: string
  readonly at?: Instant
  readonly tags: readonly string[]
  readonly likes: number
  readonly comments: number
  readonly shares: number
  readonly impressions: number
}

const MOST_ENTRIES = 200
const TOPIC_CHARS = 500
const ID_CHARS = 1_000
const MOST_TAGS = 10

export function entriesOf(text: string): readonly Entry[] {
  const isJson = /^\s*[{[]/.test(text)
  if (!isJson) inspectXml(text)
  const raw = isJson ? fromJson(text) : fromFeed(text)
  return raw.slice(0, MOST_ENTRIES).flatMap((each) => entryOf(each))
}

type Raw = {
  readonly id?: unknown
  readonly title?: unknown
  readonly url?: unknown
  readonly at?: unknown
  readonly tags?: readonly unknown[]
  readonly likes?: unknown
  readonly comments?: unknown
  readonly shares?: unknown
  readonly impressions?: unknown
}

/** E1. */
function entryOf(raw: Raw): readonly Entry[] {
  const topic = plain(raw.title)
  if (topic === '') return []
  const url = typeof raw.url === 'string' && isHttpUrl(raw.url.trim()) ? raw.url.trim() : undefined
  const id =
    typeof raw.id === 'string' && raw.id !== '' ? raw.id.slice(0, ID_CHARS) : (url ?? topic)
  const at = instantOf(raw.at)
  return [
    {
      id,
      topic,
      ...(url !== undefined && url.length <= 2_000 && { url }),
      ...(at !== undefined && { at }),
      tags: (raw.tags ?? []).map(plain).filter(Boolean).slice(0, MOST_TAGS),
      likes: countOf(raw.likes),
      comments: countOf(raw.comments),
      shares: countOf(raw.shares),
      impressions: countOf(raw.impressions),
    },
  ]
}

function fromFeed(text: string): readonly Raw[] {
  const parsed = parsedOf(text)
  if (parsed.format === 'rss') {
    return (parsed.feed.items ?? []).map((item) => ({
      id: item.guid?.value,
      title: item.title ?? item.dc?.titles?.[0],
      url: item.link,
      at: item.pubDate ?? item.dc?.dates?.[0],
      tags: (item.categories ?? []).map(({ name }) => name),
      comments: item.slash?.comments ?? item.thr?.total,
      ...communityOf(item.media),
    }))
  }
  if (parsed.format === 'atom') {
    return (parsed.feed.entries ?? []).map((entry) => ({
      id: entry.id,
      title: entry.title?.value,
      url: (entry.links?.find(({ rel = 'alternate' }) => rel === 'alternate') ?? entry.links?.[0])
        ?.href,
      at: entry.published ?? entry.updated,
      tags: (entry.categories ?? []).map(({ label, term }) => label ?? term),
      comments: entry.thr?.total ?? entry.slash?.comments,
      ...communityOf(entry.media),
    }))
  }
  if (parsed.format === 'rdf') {
    return (parsed.feed.items ?? []).map((item) => ({
      id: item.link,
      title: item.title,
      url: item.link,
      at: item.dc?.dates?.[0],
      comments: item.slash?.comments,
    }))
  }
  return (parsed.feed.items ?? []).map((item) => ({
    id: item.id,
    title: item.title,
    url: item.url,
    at: item.date_published,
    tags: item.tags ?? [],
  }))
}

function parsedOf(text: string) {
  try {
    return parseFeed(text, { maxItems: MOST_ENTRIES })
  } catch {
    throw new FeedRefused('not a feed')
  }
}

type Community = {
  readonly starRating?: { readonly count?: number }
  readonly statistics?: { readonly views?: number; readonly favorites?: number }
}
type Media = {
  readonly community?: Community
  readonly groups?: readonly { readonly community?: Community }[]
}

/** Ratings and views, as video sites count them. */
function communityOf(media: Media | undefined): Pick<Raw, 'likes' | 'impressions'> {
  const { starRating, statistics } = media?.community ?? media?.groups?.[0]?.community ?? {}
  return {
    likes: starRating?.count ?? statistics?.favorites,
    impressions: statistics?.views,
  }
}

/** A list of Reddit (`…/.json`), else a JSON Feed. */
function fromJson(text: string): readonly Raw[] {
  const json: { readonly kind?: unknown; readonly data?: unknown } = Object(readData(text))
  if (json.kind !== 'Listing') return fromFeed(text)
  const { children }: { readonly children?: unknown } = Object(json.data)
  if (!Array.isArray(children)) throw new FeedRefused('not a list')
  return children.map((child: unknown) => {
    const { data }: { readonly data?: unknown } = Object(child)
    const said: Readonly<Record<string, unknown>> = { ...Object(data) }
    const path = typeof said.permalink === 'string' ? said.permalink : ''
    return {
      id: said.name,
      title: said.title,
      url: `https://www.reddit.com${path}`,
      at: typeof said.created_utc === 'number' ? said.created_utc * 1_000 : undefined,
      tags: [said.subreddit],
      likes: said.score,
      comments: said.num_comments,
      shares: said.num_crossposts,
    }
  })
}

const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
}

/** Titles carry markup, and marks of markup, whatever their type says. */
function plain(text: unknown): string {
  if (typeof text !== 'string') return ''
  const read = text
    .slice(0, TOPIC_CHARS * 10)
    .replace(/<[^<>]{0,500}>/g, ' ')
    .replace(/&(#x?[0-9a-f]{1,6}|[a-z]{2,6});/gi, (whole, name: string) => decoded(name) ?? whole)
  return cleanText(read).replace(/\s+/g, ' ').trim().slice(0, TOPIC_CHARS)
}

function decoded(name: string): string | undefined {
  if (!name.startsWith('#')) return NAMED[name.toLowerCase()]
  const hex = name[1] === 'x' || name[1] === 'X'
  const code = Number.parseInt(name.slice(hex ? 2 : 1), hex ? 16 : 10)
  return code > 0 && code <= 0x10_ffff ? String.fromCodePoint(code) : undefined
}

function instantOf(at: unknown): Instant | undefined {
  const instant = typeof at === 'number' ? at : typeof at === 'string' ? Date.parse(at) : Number.NaN
  return Number.isFinite(instant) && instant > 0 ? instant : undefined
}

function countOf(count: unknown): number {
  const whole = typeof count === 'number' ? Math.trunc(count) : 0
  return Number.isSafeInteger(whole) && whole > 0 ? whole : 0
}
