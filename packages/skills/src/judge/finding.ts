/** What a check says about content: which rule, how bad, in words, and where in the text. */
import type { ContentPackage } from '@chimera/dialects/skills/content'
import type { ValidateContentInput } from '@chimera/dialects/skills/schema'

/** A text of the content, named by its JSON pointer. */
export type Passage = { readonly field: string; readonly text: string }

export type Span = {
  readonly field: string
  /** Counted in UTF-16 units, as browsers and editors do; `end` is behind the last one. */
  readonly start: number
  readonly end: number
}

export type Finding = {
  readonly rule: string
  readonly severity: 'error' | 'warning' | 'info'
  readonly message: string
  /** Absent where something is missing, which is nowhere. */
  readonly span?: Span
}

/** A check of one's own: a model that judges, a house rule. It may take its time, within 5 s. */
export type ContentCheck = (
  asked: ValidateContentInput,
  signal: AbortSignal,
) => readonly Finding[] | PromiseLike<readonly Finding[]>

export type Context = NonNullable<ValidateContentInput['context']>

/** Everything that a person would read, in the order of the package. */
export function passagesOf({
  script,
  captions,
  hashtags,
  media_metadata: media = [],
  platform_variants: variants = {},
}: ContentPackage): readonly Passage[] {
  const { twitter, tiktok, instagram, youtube } = variants
  const texts: readonly (readonly [field: string, text: string | undefined])[] = [
    ['/script', script],
    ['/captions', captions],
    ...hashtags.map((tag, at) => [`/hashtags/${at}`, tag] as const),
    ...media.map(({ alt_text: alt }, at) => [`/media_metadata/${at}/alt_text`, alt] as const),
    ['/platform_variants/twitter/text', twitter?.text],
    ['/platform_variants/tiktok/description', tiktok?.description],
    ['/platform_variants/instagram/caption', instagram?.caption],
    ...(instagram?.carousel_items ?? []).map(
      (item, at) => [`/platform_variants/instagram/carousel_items/${at}`, item] as const,
    ),
    ['/platform_variants/youtube/title', youtube?.title],
    ['/platform_variants/youtube/description', youtube?.description],
  ]
  return texts.flatMap(([field, text]) => (text === undefined ? [] : [{ field, text }]))
}

/** Each place where a pattern matches; the pattern needs the flag `g`. */
export function* placesOf(
  { field, text }: Passage,
  pattern: RegExp,
): Generator<Span & { readonly words: string }> {
  for (const found of text.matchAll(pattern)) {
    const [words] = found
    if (words === '') continue
    yield { field, start: found.index, end: found.index + words.length, words }
  }
}

// Enough to recognise the place; the span says the rest.
const QUOTED_CHARS = 60

export function quoted(words: string): string {
  const plain = words.replaceAll(/\s+/g, ' ').trim()
  return plain.length > QUOTED_CHARS ? `“${plain.slice(0, QUOTED_CHARS - 1)}…”` : `“${plain}”`
}
