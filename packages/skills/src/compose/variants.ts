/**
 * A draft in the form that a platform takes.
 *
 *   V1  What comes out fits: lengths as the platform counts them, disclaimers always whole.
 */
import type { ContentPackage } from '@chimera/dialects/skills/content'
import { weightedLength } from '../judge/platforms.ts'
import type { Brief, Draft } from './brief.ts'
import { cutWeighted } from './forms.ts'
import { cutAtWord, headlineOf } from './subject.ts'

type Variants = NonNullable<ContentPackage['platform_variants']>

const TWEET = 280
const DESCRIPTION_CHARS = 2_200
const TITLE_CHARS = 100
const LONG_CHARS = 5_000
const SLIDES = 10
const TWEET_TAGS = 2

export function variantsFor({ platform, persona, trend, type }: Brief, draft: Draft): Variants {
  const { captions, script, hashtags } = draft
  const disclaimers = persona.brand_guidelines?.required_disclaimers ?? []
  const tags = hashtags.join(' ')
  const described = `${cutAtWord(captions, DESCRIPTION_CHARS - tags.length - 1)}\n${tags}`
  switch (platform) {
    case 'twitter':
      return { twitter: { text: tweetOf(captions, disclaimers, hashtags.slice(0, TWEET_TAGS)) } }
    case 'tiktok':
      return { tiktok: { description: described } }
    case 'instagram':
      return {
        instagram: {
          caption: described,
          ...(type === 'carousel' && { carousel_items: script.split('\n').slice(0, SLIDES) }),
        },
      }
    case 'youtube':
      return {
        youtube: {
          title: cutAtWord(headlineOf(trend.topic), TITLE_CHARS),
          description: cutAtWord(script, LONG_CHARS),
        },
      }
  }
}

/** What must be said has its place first; the rest has what is left, tags only if they fit. */
function tweetOf(
  captions: string,
  disclaimers: readonly string[],
  tags: readonly string[],
): string {
  const last = disclaimers.join(' ')
  const text = disclaimers.reduce((rest, each) => rest.replace(each, ''), captions).trim()
  const room = TWEET - (last === '' ? 0 : weightedLength(last) + 1)
  const cut = cutWeighted(text, room)
  const whole = last === '' ? cut : `${cut}\n${last}`
  const tagged = `${whole} ${tags.join(' ')}`
  return weightedLength(tagged) <= TWEET ? tagged : whole
}
