/**
 * What a writer wrote, held to the persona and to what may be shown, whoever the writer is: a model
 * may have been talked into anything by the trend that it read.
 *
 *   D1  Links, mentions and marks that nobody sees are taken out; an address stays only where the
 *       trend has it as its source.
 *   D2  Disclaimers are put in where they are missing, emoji beyond the persona's measure are taken
 *       out, and hashtags made as many as its strategy has.
 *   D3  What has a forbidden word or is too short then is of no use: nobody guesses what was meant.
 *   D4  A text that had to be mended, is out of the persona's voice, has figures without a source,
 *       or comes from a trend that speaks to models, is one that a person looks at.
 */
import type { Persona } from '@chimera/dialects/skills/persona'
import { checkClaims } from '../judge/claims.ts'
import type { Finding } from '../judge/finding.ts'
import { checkPersonal } from '../judge/personal.ts'
import { withoutLinks } from '../models/links.ts'
import { isSteering } from '../models/strangers.ts'
import { allowedBy } from './allowed.ts'
import type { Brief, Draft } from './brief.ts'
import { captioned } from './forms.ts'
import { hashtagsFor } from './hashtags.ts'
import { cutAtWord } from './subject.ts'

const SCRIPT = { least: 50, most: 5_000 } as const
const CAPTION = { least: 20 } as const
const ALT_CHARS = 300
/** Below the threshold of review. */
const LOOKED_AT = 0.75

// As in strangers.ts, but for line breaks and for what joins emoji.
const UNSEEN = /(?![\n\u200D])[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Cn}\u2028\u2029]/gu
const EMOJI = /\p{Extended_Pictographic}(?:\uFE0F|\u200D\p{Extended_Pictographic})*/gu
const EMOJI_MOST: Readonly<Record<Persona['content_style']['emoji_usage'] & string, number>> = {
  none: 0,
  minimal: 3,
  moderate: 10,
  heavy: Number.POSITIVE_INFINITY,
}

/** Undefined where nothing usable is left (D3). */
export function mended(brief: Brief, given: Draft): Draft | undefined {
  const { persona, trend } = brief
  const disclaimers = persona.brand_guidelines?.required_disclaimers ?? []
  const known = trend.metadata?.source_urls ?? []
  const most = EMOJI_MOST[persona.content_style.emoji_usage ?? 'moderate']
  const clean = (text: string): string =>
    fewer(withoutLinks(text.replaceAll(UNSEEN, ' '), known).text, most)
  const missing = (text: string) => disclaimers.filter((each) => !text.includes(each))

  const script = clean(given.script)
  const captions = clean(given.captions)
  const last = missing(script).join('\n')
  const draft: Draft = {
    script: last === '' ? cutAtWord(script, SCRIPT.most) : withLast(script, last),
    captions: captioned(without(captions, disclaimers), disclaimers),
    hashtags: hashtagsFor(
      brief,
      given.hashtags.filter((tag) => withoutLinks(tag).found === 0),
    ),
    confidence: given.confidence,
    ...(given.alt !== undefined && { alt: clean(given.alt).slice(0, ALT_CHARS) }),
  }
  const isAllowed = allowedBy(persona)
  const own = [without(draft.script, disclaimers), without(draft.captions, disclaimers)]
  const isLong = draft.script.length >= SCRIPT.least && draft.captions.length >= CAPTION.least
  if (!isLong || ![...own, draft.alt ?? ''].every(isAllowed)) return undefined
  const isSame = script === given.script && captions === given.captions
  const isDoubted = doubtsOf(draft).some(({ severity }) => severity === 'warning')
  const isFine = isSame && !isDoubted && isInVoice(persona, draft)
  if (isFine && !isSteering(trend.topic)) return draft
  return { ...draft, confidence: Math.min(draft.confidence, LOOKED_AT) }
}

// What a tone does not say. Others may shout and joke.
const OUT_OF_TONE: Readonly<Partial<Record<Persona['voice_tone'], RegExp>>> = {
  formal:
    /!{2,}|\b(?:lol|omg|wtf|gonna|wanna|gotta|ain't|y'all|dude|bro|yeah|nope|awesome|insane|vibes?)\b/i,
  technical: /!{2,}|\b(?:lol|omg|wtf|dude|bro|y'all|vibes?|magical|mind-?blowing)\b/i,
  inspirational: /\b(?:lol|wtf|pathetic|hopeless|losers?|stupid)\b/i,
}

/** As far as words show it: the tone, and one of the words that it likes to use. */
function isInVoice({ voice_tone: tone, vocabulary }: Persona, draft: Draft): boolean {
  const text = `${draft.script}\n${draft.captions}`.toLowerCase().replaceAll('’', "'")
  const { preferred_words: liked } = vocabulary
  const isLiked = liked.length === 0 || liked.some((word) => text.includes(word.toLowerCase()))
  return isLiked && !OUT_OF_TONE[tone]?.test(text)
}

/** Whether it has what nobody may be shown: personal data, promises about health or money. */
export const isHarmful = (draft: Draft): boolean =>
  doubtsOf(draft).some(({ severity }) => severity === 'error')

const doubtsOf = ({ script, captions, alt = '' }: Draft): readonly Finding[] =>
  [script, captions, alt].flatMap((text) => {
    const passage = { field: '', text }
    return [...checkPersonal(passage), ...checkClaims(passage, [])]
  })

const without = (text: string, parts: readonly string[]): string =>
  parts.reduce((rest, part) => rest.replace(part, ''), text).trim()

const withLast = (text: string, last: string): string =>
  `${cutAtWord(text, SCRIPT.most - last.length - 2)}\n\n${last}`

/** The first ones stay. */
function fewer(text: string, most: number): string {
  let count = 0
  return text.replaceAll(EMOJI, (emoji) => {
    count += 1
    return count > most ? '' : emoji
  })
}
