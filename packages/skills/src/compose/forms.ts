/**
 * What is said, put into the form of a video script, a carousel, a post or a thread. Composer and
 * models share the forms, so that the same brief has the same structure whoever writes it.
 *
 *   F1  Disclaimers stand in the script and in the captions, word by word, whatever else is cut.
 *   F2  Each post of a thread fits into one of Twitter's.
 */
import { weightedLength } from '../judge/platforms.ts'
import type { Brief, ContentType } from './brief.ts'
import { cutAtWord } from './subject.ts'

export type Said = {
  readonly hook: string
  readonly body: readonly string[]
  readonly closing: readonly string[]
  readonly disclaimers: readonly string[]
  readonly emoji: readonly string[]
}

const SCRIPT_CHARS = 5_000
const CAPTION_CHARS = 2_000
const TWEET = 280
const SECONDS_HOOK = 4
const SECONDS_LINE = 5
const PARTS = { concise: 2, medium: 4, detailed: 6 } as const

/** How many sentences stand between the hook and the end. */
export const partsFor = ({ persona }: Brief): number =>
  PARTS[persona.content_style.post_length_preference]

export const scriptOf = (type: ContentType, said: Said): string =>
  cutAtWord(FORMS[type](said), SCRIPT_CHARS)

const FORMS: Readonly<Record<ContentType, (said: Said) => string>> = {
  video_script: ({ hook, body, closing, disclaimers }) =>
    [
      `[0:00] ${hook}`,
      ...body.map((line, at) => `${timeOf(at)} ${line}`),
      `${timeOf(body.length)} ${closing.join(' ')}`,
      ...disclaimers.map((each) => `On screen: ${each}`),
    ].join('\n'),
  carousel: ({ hook, body, closing, disclaimers }) =>
    [hook, ...body, [...closing, ...disclaimers].join(' ')]
      .map((text, at) => `Slide ${at + 1}: ${text}`)
      .join('\n'),
  single_post: ({ hook, body, closing, disclaimers }) =>
    [hook, body.join(' '), closing.join(' '), ...disclaimers].filter(Boolean).join('\n\n'),
  thread: ({ hook, body, closing, disclaimers }) => {
    const last = disclaimers.join(' ')
    const room = TWEET - (last === '' ? 0 : weightedLength(last) + 1)
    const end = [cutWeighted(closing.join(' '), room - MARK), last].filter(Boolean).join(' ')
    const posts = [hook, ...body, end].filter(Boolean)
    return posts
      .map((post, at) => {
        const mark = `${at + 1}/${posts.length} `
        return `${mark}${post === end ? post : cutWeighted(post, TWEET - MARK)}`
      })
      .join('\n\n')
  },
}

// `10/10 `
const MARK = 6

const timeOf = (line: number): string => {
  const second = SECONDS_HOOK + line * SECONDS_LINE
  return `[0:${String(second).padStart(2, '0')}]`
}

/** The hook, the end, and what must be said. */
export function captionOf({ hook, body, closing, disclaimers, emoji }: Said): string {
  const first = [hook, body[0], ...closing].filter(Boolean).join(' ')
  return captioned(emoji.length > 0 ? `${first} ${emoji.join('')}` : first, disclaimers)
}

export function captioned(text: string, disclaimers: readonly string[]): string {
  const last = disclaimers.join(' ')
  return [cutAtWord(text, CAPTION_CHARS - last.length - 1), last].filter(Boolean).join('\n')
}

/** As much as Twitter counts. */
export function cutWeighted(text: string, room: number): string {
  if (weightedLength(text) <= room) return text
  let most = Math.min(text.length, room)
  while (most > 1 && weightedLength(cutAtWord(text, most)) > room) most -= 1
  return cutAtWord(text, most)
}
