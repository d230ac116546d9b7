/**
 * The embedded writer: decent copy from a trend and a persona, without a model. It knows nothing of
 * the world, so it claims nothing, and a person always looks at what it wrote.
 *
 *   C1  The same brief gives the same draft.
 *   C2  No sentence has a forbidden word or association; a headline that has one, or that was not
 *       safe to show, is not repeated.
 *   C3  Disclaimers stand in the script and in the captions, word by word.
 */
import { allowedBy } from './allowed.ts'
import type { Brief, Draft, Writer } from './brief.ts'
import { type Choice, createChoice } from './choice.ts'
import { captionOf, partsFor, type Said, scriptOf } from './forms.ts'
import { hashtagsFor } from './hashtags.ts'
import { headlineOf } from './subject.ts'
import { CALLS, STYLES, TONES } from './tones.ts'

// Below the threshold of review, whatever it wrote; less where the mood of the trend is unclear.
const CONFIDENCE = 0.65
const UNCLEAR_CONFIDENCE = 0.5
const EMOJI = { none: 0, minimal: 1, moderate: 2, heavy: 4 } as const
// The first that the persona may say.
const UNNAMED = ['this story', 'this news', 'what people talk about', 'it'] as const
const INTERESTS = ['good stories', 'what is new', 'it'] as const

export const composer: Writer = {
  name: 'embedded composer',
  write: async (brief) => compose(brief),
}

export function compose(brief: Brief): Draft {
  const { trend, persona, platform, type, revision } = brief
  const seed = [trend.trend_id, trend.topic, persona.name, String(persona.version), platform, type]
  // A text that was sent back is another text, though the composer understands no words.
  const choice = createChoice(...seed, ...(revision ? [String(revision.round)] : []))
  const said = say(brief, choice)
  const { sentiment } = trend
  const isUnclear = sentiment === 'mixed' || sentiment === 'unknown'
  return {
    script: scriptOf(type, said),
    captions: captionOf(said),
    hashtags: hashtagsFor(brief),
    confidence: isUnclear ? UNCLEAR_CONFIDENCE : CONFIDENCE,
  }
}

function say(brief: Brief, choice: Choice): Said {
  const { trend, persona, careful } = brief
  // A tone that bites is not for a text that was too sharp before.
  const tone = careful ? TONES.formal : TONES[persona.voice_tone]
  const { content_style: style, engagement_strategy: strategy, target_audience: to } = persona
  const isAllowed = allowedBy(persona)
  const headline = headlineOf(trend.topic)
  // What was not safe to show is not repeated, nor what the persona never says.
  const topic = [...(careful ? [] : [headline]), ...UNNAMED].find(isAllowed) ?? 'it'
  const interest = [...to.interests, ...INTERESTS].find(isAllowed) ?? 'it'
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
  const body = [...new Set(candidates.map(filled))].filter(isAllowed).slice(0, partsFor(brief))
  const [firstCall, ...otherCalls] = CALLS[strategy.call_to_action]
  const call = firstCall === undefined ? [] : [choice.of([firstCall, ...otherCalls])]
  return {
    hook: hookOf(choice.some(tone.hooks, tone.hooks.length).map(filled).find(isAllowed), topic),
    body,
    closing: [choice.of(tone.closers), ...call].filter(isAllowed),
    disclaimers: persona.brand_guidelines?.required_disclaimers ?? [],
    emoji: choice.some(tone.emoji, EMOJI[style.emoji_usage ?? 'moderate']),
  }
}

const hookOf = (hook: string | undefined, topic: string): string => hook ?? `${capital(topic)}.`

const capital = (line: string): string => line.charAt(0).toUpperCase() + line.slice(1)
