/**
 * The embedded writer: decent copy from a trend and a persona, without a model. It knows nothing of
 * the world, so it claims nothing, and a person always looks at what it wrote.
 *
 *   C1  The same brief gives the same draft.
 *   C2  No sentence has a forbidden word or association; the headline that has one is not repeated.
 *   C3  Disclaimers stand in the script and in the captions, word by word.
 */
import type { Persona } from '@chimera/dialects/skills/persona'
import { fold } from '../judge/folded.ts'
import type { Brief, ContentType, Draft, Writer } from './brief.ts'
import { type Choice, createChoice } from './choice.ts'
import { hashtagsFor } from './hashtags.ts'
import { cutAtWord, headlineOf } from './subject.ts'
import { CALLS, STYLES, TONES } from './tones.ts'

// Below the threshold of review, whatever it wrote; less where the mood of the trend is unclear.
const CONFIDENCE = 0.65
const UNCLEAR_CONFIDENCE = 0.5
const SCRIPT_CHARS = 5_000
const CAPTION_CHARS = 2_000
const EMOJI = { none: 0, minimal: 1, moderate: 2, heavy: 4 } as const
const BODY = { concise: 2, medium: 4, detailed: 6 } as const
const UNNAMED = 'this story'

export const composer: Writer = {
  name: 'embedded composer',
  write: async (brief) => compose(brief),
}

/** What is said, before it is put into a form. */
type Said = {
  readonly hook: string
  readonly body: readonly string[]
  readonly closing: readonly string[]
  readonly disclaimers: readonly string[]
  readonly emoji: readonly string[]
}

export function compose(brief: Brief): Draft {
  const { trend, persona, platform, type } = brief
  const seed = [trend.trend_id, trend.topic, persona.name, String(persona.version), platform, type]
  const choice = createChoice(...seed)
  const said = say(brief, choice)
  const { sentiment } = trend
  const isUnclear = sentiment === 'mixed' || sentiment === 'unknown'
  return {
    script: cutAtWord(FORMS[type](said), SCRIPT_CHARS),
    captions: captionOf(said),
    hashtags: hashtagsFor(brief),
    confidence: isUnclear ? UNCLEAR_CONFIDENCE : CONFIDENCE,
  }
}

function say({ trend, persona, careful }: Brief, choice: Choice): Said {
  // A tone that bites is not for a text that was too sharp before.
  const tone = careful ? TONES.formal : TONES[persona.voice_tone]
  const { content_style: style, engagement_strategy: strategy, target_audience: to } = persona
  const isAllowed = allowedBy(persona)
  const headline = headlineOf(trend.topic)
  const topic = isAllowed(headline) ? headline : UNNAMED
  const interest = to.interests.filter(isAllowed)[0] ?? 'good stories'
  const filled = (line: string): string =>
    capital(line.replaceAll('{topic}', topic).replaceAll('{interest}', interest))

  const words = choice.some(persona.vocabulary.preferred_words.filter(isAllowed), 2)
  const candidates = [
    choice.of(tone.contexts),
    ...(words.length > 0 ? [`For us it comes down to this: ${words.join(' and ')}.`] : []),
    choice.of(tone.turns),
    ...choice.some(STYLES[style.storytelling_style], 2),
    ...persona.values.core_values
      .slice(0, 1)
      .map((value) => `We look at it with ${value} in mind.`),
    ...choice.some(tone.turns, tone.turns.length),
  ]
  const body = [...new Set(candidates.map(filled))]
    .filter(isAllowed)
    .slice(0, BODY[style.post_length_preference])
  const [firstCall, ...otherCalls] = CALLS[strategy.call_to_action]
  const call = firstCall === undefined ? [] : [choice.of([firstCall, ...otherCalls])]
  return {
    hook: filled(choice.of(tone.hooks)),
    body,
    closing: [choice.of(tone.closers), ...call].filter(isAllowed),
    disclaimers: persona.brand_guidelines?.required_disclaimers ?? [],
    emoji: choice.some(tone.emoji, EMOJI[style.emoji_usage ?? 'moderate']),
  }
}

const FORMS: Readonly<Record<ContentType, (said: Said) => string>> = {
  video_script: ({ hook, body, closing, disclaimers }) =>
    [
      `[0:00] ${hook}`,
      ...body.map((line, at) => `[0:${String(4 + at * 5).padStart(2, '0')}] ${line}`),
      `[0:${String(4 + body.length * 5).padStart(2, '0')}] ${closing.join(' ')}`,
      ...disclaimers.map((each) => `On screen: ${each}`),
    ].join('\n'),
  carousel: ({ hook, body, closing, disclaimers }) =>
    [hook, ...body, [...closing, ...disclaimers].join(' ')]
      .map((text, at) => `Slide ${at + 1}: ${text}`)
      .join('\n'),
  single_post: ({ hook, body, closing, disclaimers }) =>
    [hook, body.join(' '), closing.join(' '), ...disclaimers].filter(Boolean).join('\n\n'),
  thread: ({ hook, body, closing, disclaimers }) => {
    const posts = [hook, ...body, [...closing, ...disclaimers].join(' ')].filter(Boolean)
    return posts.map((post, at) => `${at + 1}/${posts.length} ${post}`).join('\n\n')
  },
}

/** The hook, the end, and what must be said. */
function captionOf({ hook, body, closing, disclaimers, emoji }: Said): string {
  const last = disclaimers.join(' ')
  const first = [hook, body[0], ...closing].filter(Boolean).join(' ')
  const text = emoji.length > 0 ? `${first} ${emoji.join('')}` : first
  return [cutAtWord(text, CAPTION_CHARS - last.length - 1), last].filter(Boolean).join('\n')
}

/** C2. */
function allowedBy({ vocabulary, brand_guidelines: brand }: Persona): (text: string) => boolean {
  const forbidden = [...vocabulary.forbidden_words, ...(brand?.forbidden_associations ?? [])]
    .map((word) => fold(word).text.toLowerCase().trim())
    .filter((word) => word !== '')
  return (text) => {
    const plain = ` ${fold(text)
      .text.toLowerCase()
      .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')} `
    return !forbidden.some((word) =>
      [word, `${word}s`, `${word}es`].some((each) => plain.includes(` ${each} `)),
    )
  }
}

const capital = (line: string): string => line.charAt(0).toUpperCase() + line.slice(1)
