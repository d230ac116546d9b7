/**
 * What a trend is about, as words that can stand in a sentence. A topic is a stranger's text: one
 * line of it, without what steers a terminal or a reader's eye, and no longer than a headline.
 */
import { fold } from '../judge/folded.ts'

const HEADLINE_CHARS = 120
const STEERING = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\u2028\u2029]+/gu
const ADDRESS = /\bhttps?:\/\/\S+|\bwww\.\S+/gi
const TRAILING = /[\s.!?…:;,–—-]+$/u
const STOP = new Set(
  [
    'about after again against also been before being below between both from have here into',
    'just more most only other over same some such than that their them then there these they',
    'this those through under until very were what when where which while whom will with',
    'would your takes take first',
  ].flatMap((line) => line.split(' ')),
)

/** A headline without its last mark; "this story" where nothing is left of it. */
export function headlineOf(topic: string): string {
  const line = topic
    .replaceAll(ADDRESS, ' ')
    .replaceAll(STEERING, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
  const cut = line.length <= HEADLINE_CHARS ? line : cutAtWord(line, HEADLINE_CHARS)
  const plain = cut.replace(TRAILING, '')
  return plain === '' ? 'this story' : plain
}

/** The words that say most: the long ones, in their order. */
export function keywordsOf(topic: string): readonly string[] {
  const words = fold(headlineOf(topic)).text.match(/[A-Za-z][A-Za-z0-9]{3,29}/g) ?? []
  return [...new Set(words.filter((word) => !STOP.has(word.toLowerCase())))]
}

export function cutAtWord(text: string, most: number): string {
  if (text.length <= most) return text
  const head = text.slice(0, most - 1)
  const at = head.lastIndexOf(' ')
  return `${(at > most / 2 ? head.slice(0, at) : head).replace(TRAILING, '')}…`
}
