/**
 * Subjects and the patterns that listen to them: words with dots between. In a pattern `*` stands
 * for one word, and `>` at the end for one or more.
 */
import { Failure } from './failure.ts'

// Longer ones are slow to route at a broker; ours have at most 5 words, two of them uuids.
const CHARS = 255
const WORDS = 16
const WORD = '[A-Za-z0-9_-]+'
const SUBJECT = new RegExp(`^${WORD}(\\.${WORD})*$`)
const PATTERN = new RegExp(`^(${WORD}|\\*|>$)(\\.(${WORD}|\\*|>$))*$`)

export function isSubject(text: string): boolean {
  return isShort(text) && SUBJECT.test(text)
}

export function isPattern(text: string): boolean {
  return isShort(text) && PATTERN.test(text)
}

function isShort(text: string): boolean {
  if (text.length > CHARS) return false
  let words = 1
  for (let at = text.indexOf('.'); at >= 0; at = text.indexOf('.', at + 1)) words += 1
  return words <= WORDS
}

export function checkSubject(text: string): void {
  if (!isSubject(text)) throw new Failure('subject_malformed', JSON.stringify(text.slice(0, CHARS)))
}

export function checkPattern(text: string): void {
  if (!isPattern(text)) throw new Failure('subject_malformed', JSON.stringify(text.slice(0, CHARS)))
}

export function matches(pattern: string, subject: string): boolean {
  if (pattern === subject) return true
  const wanted = pattern.split('.')
  const words = subject.split('.')
  for (const [at, each] of wanted.entries()) {
    const word = words[at]
    if (word === undefined) return false
    if (each === '>') return true
    if (each !== '*' && each !== word) return false
  }
  return wanted.length === words.length
}
