/**
 * What a platform takes: lengths as the platform counts them, pictures, hashtags, and wording that
 * its rules forbid everywhere.
 *
 *   P1  Twitter counts most writing systems beyond Latin twice, and every address as 23.
 */
import type { ContentPackage } from '@chimera/dialects/skills/content'
import { type Context, type Finding, type Passage, placesOf, quoted } from './finding.ts'

export type Platform = NonNullable<Context['platform']>

const ADDRESS = /https?:\/\/[^\s]+/g
const ADDRESS_WEIGHT = 23
// The ranges that count once, by the platform's published configuration.
const LIGHT: readonly (readonly [from: number, to: number])[] = [
  [0, 4_351],
  [8_192, 8_205],
  [8_208, 8_223],
  [8_242, 8_247],
]
const EMOJI =
  /\p{Extended_Pictographic}(?:\uFE0F|\u200D\p{Extended_Pictographic}|[\u{1F3FB}-\u{1F3FF}])*/gu

/** What the platform counts of its 280. */
export function weightedLength(text: string): number {
  const [...addresses] = text.matchAll(ADDRESS)
  const rest = text.normalize('NFC').replaceAll(ADDRESS, '')
  const emoji = [...rest.matchAll(EMOJI)].length
  const plain = rest.replaceAll(EMOJI, '')
  const letters = Array.from(plain, weightOf).reduce((sum, each) => sum + each, 0)
  return addresses.length * ADDRESS_WEIGHT + emoji * 2 + letters
}

function weightOf(character: string): number {
  const point = character.codePointAt(0) ?? 0
  return LIGHT.some(([from, to]) => point >= from && point <= to) ? 1 : 2
}

type Rule = {
  readonly field: string
  readonly chars: number
  readonly length: (text: string) => number
  readonly textOf: (content: ContentPackage) => string | undefined
  readonly pictures: number
  /** More than this puts readers off, or is refused. */
  readonly hashtags: number
}

const chars = (text: string): number => [...text].length

const RULES: Readonly<Record<Platform, Rule>> = {
  twitter: {
    field: '/platform_variants/twitter/text',
    chars: 280,
    length: weightedLength,
    textOf: ({ platform_variants: variants, captions }) => variants?.twitter?.text ?? captions,
    pictures: 4,
    hashtags: 3,
  },
  tiktok: {
    field: '/platform_variants/tiktok/description',
    chars: 2_200,
    length: chars,
    textOf: ({ platform_variants: variants, captions }) =>
      variants?.tiktok?.description ?? captions,
    pictures: 10,
    hashtags: 8,
  },
  instagram: {
    field: '/platform_variants/instagram/caption',
    chars: 2_200,
    length: chars,
    textOf: ({ platform_variants: variants, captions }) => variants?.instagram?.caption ?? captions,
    pictures: 10,
    hashtags: 30,
  },
  youtube: {
    field: '/platform_variants/youtube/title',
    chars: 100,
    length: chars,
    textOf: ({ platform_variants: variants }) => variants?.youtube?.title,
    pictures: 10,
    hashtags: 15,
  },
}

const HASHTAG = /(?<![\w&])#\w{1,100}/g
const BAIT =
  /\b(?:like (?:and|&|\+) (?:share|retweet|follow) (?:to win|if|for)|(?:follow|sub|like) ?(?:4|for) ?(?:follow|sub|like)|f4f|l4l|tag \d+ friends|retweet to win|share (?:this )?or (?:else|you|bad)|comment (?:yes|amen|1|🔥) (?:if|to|below)|like if you agree|only (?:real|true) fans will share)\b/gi
const SHOUTED = /(?:\b[A-Z]{3,}\b[\s,!?'"-]*){5,}/g

export function checkPlatform(
  content: ContentPackage,
  passages: readonly Passage[],
  platform: Platform | undefined,
): readonly Finding[] {
  const wanted = platform === undefined ? platformsOf(content) : [platform]
  return [
    ...wanted.flatMap((each) => checkOne(content, each)),
    ...passages.flatMap((passage) => wording(passage)),
  ]
}

/** Where nobody says which, whatever the content has a variant for. */
function platformsOf({ platform_variants: variants = {} }: ContentPackage): readonly Platform[] {
  const all: readonly Platform[] = ['twitter', 'tiktok', 'instagram', 'youtube']
  return all.filter((each) => variants[each] !== undefined)
}

function checkOne(content: ContentPackage, platform: Platform): readonly Finding[] {
  const { field, textOf, length, chars: most, pictures, hashtags } = RULES[platform]
  const findings: Finding[] = []
  const text = textOf(content)
  const add = (severity: Finding['severity'], message: string, span?: Finding['span']) =>
    findings.push({ rule: `${platform}_rules`, severity, message, ...(span && { span }) })
  if (text === undefined) {
    add('error', `${platform} needs ${field.split('/').at(-1)}, which the content does not have.`)
  } else {
    const counted = length(text)
    const own = textOf({ ...content, captions: '' }) === text ? field : '/captions'
    if (counted > most) {
      const message = `${platform} takes ${most} characters; it would count ${counted} here.`
      add('error', message, { field: own, start: 0, end: text.length })
    }
    const tags = [...text.matchAll(HASHTAG)].length
    if (tags > hashtags) {
      add(
        'warning',
        `${tags} hashtags in one text; on ${platform} more than ${hashtags} put readers off.`,
      )
    }
  }
  if (content.media_urls.length > pictures) {
    add('error', `${platform} takes ${pictures} pictures; there are ${content.media_urls.length}.`)
  }
  if (platform === 'tiktok' && !content.platform_variants?.tiktok?.video_url) {
    add('info', 'TikTok shows videos; there is none yet.')
  }
  return findings
}

function wording(passage: Passage): readonly Finding[] {
  const findings: Finding[] = []
  for (const { words, ...span } of placesOf(passage, BAIT)) {
    const message = `${quoted(words)} begs for reactions, which platforms hide.`
    findings.push({ rule: 'engagement_bait', severity: 'warning', message, span })
  }
  for (const { words, ...span } of placesOf(passage, SHOUTED)) {
    const message = `${quoted(words)} shouts. Use small letters.`
    findings.push({ rule: 'shouting', severity: 'info', message, span })
  }
  return findings
}
