/**
 * What a reviewer looks at and may change: the texts of a content package, each named by its JSON
 * pointer, as the judge names them.
 *
 *   R1  The first field is what the platform shows. The others go along with the package.
 *   R2  An edit changes the fields that were edited, and nothing else.
 */
import type { ReviewSeen } from '@chimera/dialects/chimera'
import type { ContentPackage } from '@chimera/dialects/skills/content'

type Platform = ReviewSeen['platform']
type Field = { readonly name: string; readonly least: number; readonly most: number }

// Bounds of the content package, so that a text that cannot be sent is told before it is.
// biome-ignore format: a table is read by its columns
const FIELDS: Readonly<Record<string, Field>> = {
  '/platform_variants/twitter/text':          { name: 'Post',        least: 1,  most: 280 },
  '/platform_variants/tiktok/description':    { name: 'Description', least: 1,  most: 2_200 },
  '/platform_variants/instagram/caption':     { name: 'Caption',     least: 1,  most: 2_200 },
  '/platform_variants/youtube/title':         { name: 'Title',       least: 1,  most: 100 },
  '/platform_variants/youtube/description':   { name: 'Description', least: 1,  most: 5_000 },
  '/captions':                                { name: 'Captions',    least: 20, most: 2_000 },
  '/script':                                  { name: 'Script',      least: 50, most: 5_000 },
}

export const PLATFORM_NAMES: Readonly<Record<Platform, string>> = {
  twitter: 'Twitter',
  tiktok: 'TikTok',
  instagram: 'Instagram',
  youtube: 'YouTube',
}

export const TITLE_FIELD = '/platform_variants/youtube/title'

/** Where the text lies that the platform shows. */
export function shownField(platform: Platform, content: ContentPackage): string {
  const own: Readonly<Record<Platform, string>> = {
    twitter: '/platform_variants/twitter/text',
    tiktok: '/platform_variants/tiktok/description',
    instagram: '/platform_variants/instagram/caption',
    youtube: '/platform_variants/youtube/description',
  }
  if (readField(content, own[platform]) !== undefined) return own[platform]
  return platform === 'youtube' ? '/script' : '/captions'
}

/** R1. */
export function fieldsOf(platform: Platform, content: ContentPackage): readonly string[] {
  const title = platform === 'youtube' && readField(content, TITLE_FIELD) !== undefined
  const shown = [...(title ? [TITLE_FIELD] : []), shownField(platform, content)]
  return [...new Set([...shown, '/captions', '/script'])]
}

/** Fields that we do not know are named as the judge names them. */
export const fieldName = (field: string): string => FIELDS[field]?.name ?? field

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

const keysOf = (field: string): readonly string[] =>
  field
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))

export function readField(content: ContentPackage, field: string): string | undefined {
  let value: unknown = content
  for (const key of keysOf(field)) {
    value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
  }
  return typeof value === 'string' ? value : undefined
}

export type Edits = Readonly<Record<string, string>>

/** R2. */
export function editContent(content: ContentPackage, edits: Edits): ContentPackage {
  return Object.entries(edits).reduce(
    (edited, [field, text]) => put(edited, keysOf(field), text) as ContentPackage,
    content,
  )
}

function put(value: unknown, [key, ...rest]: readonly string[], text: string): unknown {
  if (key === undefined) return text
  const before = isObject(value) ? value : {}
  return { ...before, [key]: put(before[key], rest, text) }
}

/** What keeps a text from being sent, or undefined. */
export function lengthTrouble(field: string, text: string): string | undefined {
  const { least, most } = FIELDS[field] ?? { least: 0, most: Number.POSITIVE_INFINITY }
  const { length } = [...text]
  if (length > most) return `${length - most} too long: ${most} at most`
  return length < least ? `too short: ${least} at least` : undefined
}

export type Going = {
  readonly ids: readonly string[]
  readonly current: string | undefined
  /** Where the current one was, when it is no longer there. */
  readonly was: number
}

/** The next one down or up; from one that is gone, the one in its place. */
export function nextReview({ ids, current, was }: Going, step: 1 | -1): string | undefined {
  const at = current === undefined ? -1 : ids.indexOf(current)
  if (at >= 0) return ids[at + step]
  if (current === undefined) return step === 1 ? ids[0] : ids.at(-1)
  return step === 1 ? ids[Math.min(was, ids.length - 1)] : ids[Math.max(0, was - 1)]
}
