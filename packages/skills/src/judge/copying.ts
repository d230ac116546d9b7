/**
 * What was written by others: runs of words that stand in a source in the same order, lines that
 * look like a song, and marks that claim what is somebody else's.
 *
 *   C1  Words are compared without case, accents and punctuation, so a copied sentence is found
 *       also when its commas were moved.
 *   C2  A short quotation in quotation marks, with somebody named, is no copy.
 */
import { type Context, type Finding, type Passage, placesOf, quoted } from './finding.ts'
import { fold } from './folded.ts'

// Eight words in a row are hardly chance; twenty are a paragraph that is not one's own.
const COPIED_WORDS = 8
const LONG_COPY_WORDS = 20
// What may be quoted, with somebody named.
const QUOTATION_WORDS = 25
const INSTEAD = 'Say it in other words, or quote it and name who said it.'

const WORD = /[\p{L}\p{N}']+/gu
const SUNG = /[♪♫🎵🎶][^♪♫🎵🎶\n]{15,}[♪♫🎵🎶]|(?:^|\n)(?:[^\n]{8,60}\n){3,}[^\n]{8,60}(?=\n|$)/gu
const RHYMED = /\b(?:lyrics?|verse|chorus|refrain|song goes|sings?|sang)\b/i
const ENDORSED =
  /\b(?:[Oo]fficial(?:ly)? (?:partner|sponsor|endorsed|licensed|merch(?:andise)?|app|account)(?: (?:of|by))?|[Ii]n (?:official )?(?:partnership|collaboration) with|[Ee]ndorsed by|[Ss]ponsored by|[Bb]rought to you by|[Aa]pproved by|[Aa]s seen on)\s+(?=[A-Z@])/g
const RIGHTS =
  /(?:©|\(c\)|℗|all rights reserved|copyright \d{4}|reprinted|full (?:article|text|movie|episode|album)(?: here| below| free)|free download|pirated|torrent|leaked (?:copy|album|movie|episode))/gi

type Word = { readonly text: string; readonly start: number; readonly end: number }

export function checkCopying(passage: Passage, context: Context): readonly Finding[] {
  return [...copied(passage, context.sources ?? []), ...sung(passage), ...claimedRights(passage)]
}

function copied(passage: Passage, sources: NonNullable<Context['sources']>): readonly Finding[] {
  const own = wordsOf(passage.text)
  const findings: Finding[] = []
  for (const { url, text = '' } of sources) {
    const theirs = runsOf(wordsOf(text).map((word) => word.text))
    let at = 0
    while (at + COPIED_WORDS <= own.length) {
      const length = sharedRun(own, at, theirs)
      if (length === 0) {
        at += 1
        continue
      }
      const [first, last] = [own[at], own[at + length - 1]]
      at += length
      if (first === undefined || last === undefined) continue
      const span = { field: passage.field, start: first.start, end: last.end }
      if (length <= QUOTATION_WORDS && isQuotation(passage.text, span)) continue
      const isLong = length >= LONG_COPY_WORDS
      const words = quoted(passage.text.slice(span.start, span.end))
      findings.push({
        rule: 'copied_text',
        severity: isLong ? 'error' : 'warning',
        message: `${length} words stand like this at ${new URL(url).host}: ${words}. ${INSTEAD}`,
        span,
      })
    }
  }
  return findings
}

type Runs = {
  readonly words: readonly string[]
  readonly at: ReadonlyMap<string, readonly number[]>
}

/** Where each run of eight begins. */
function runsOf(words: readonly string[]): Runs {
  const at = new Map<string, number[]>()
  for (let start = 0; start + COPIED_WORDS <= words.length; start++) {
    const run = words.slice(start, start + COPIED_WORDS).join(' ')
    const known = at.get(run)
    if (known === undefined) at.set(run, [start])
    else known.push(start)
  }
  return { words, at }
}

/** How many words from here on stand in the source in the same order; fewer than eight are none. */
function sharedRun(own: readonly Word[], at: number, { words, at: starts }: Runs): number {
  const run = own.slice(at, at + COPIED_WORDS).map(({ text }) => text)
  const places = starts.get(run.join(' ')) ?? []
  let longest = 0
  for (const place of places) {
    let length = COPIED_WORDS
    while (own[at + length] && own[at + length]?.text === words[place + length]) length += 1
    longest = Math.max(longest, length)
  }
  return longest
}

/** C2. */
function isQuotation(text: string, { start, end }: { start: number; end: number }): boolean {
  const before = text.slice(Math.max(0, start - 40), start)
  const after = text.slice(end, end + 60)
  const isMarked = /["“«]\s*$/.test(before) && /^[.,!?…]?\s*["”»]/.test(after)
  return isMarked && /[A-Z]\w+/.test(`${before.slice(0, -1)} ${after.slice(1)}`)
}

function sung(passage: Passage): readonly Finding[] {
  const isNamed = RHYMED.test(passage.text)
  const findings: Finding[] = []
  for (const { words, ...span } of placesOf(passage, SUNG)) {
    const isMarked = /[♪♫🎵🎶]/u.test(words)
    if (!isMarked && !isNamed) continue
    const message = 'This looks like the words of a song. They need a licence; tell of it instead.'
    findings.push({ rule: 'quoted_lyrics', severity: 'warning', message, span })
  }
  return findings
}

function claimedRights(passage: Passage): readonly Finding[] {
  const findings: Finding[] = []
  for (const { words, ...span } of placesOf(passage, ENDORSED)) {
    const message = `${quoted(words)} claims a tie that must be agreed with the other side.`
    findings.push({ rule: 'claimed_endorsement', severity: 'warning', message, span })
  }
  for (const { words, ...span } of placesOf(passage, RIGHTS)) {
    const message = `${quoted(words)} says that this belongs to somebody else.`
    findings.push({ rule: 'foreign_rights', severity: 'warning', message, span })
  }
  return findings
}

/** C1. */
function wordsOf(text: string): readonly Word[] {
  const folded = fold(text)
  return Array.from(folded.text.matchAll(WORD), ({ index, 0: word }) => ({
    text: word.toLowerCase().replaceAll("'", ''),
    ...folded.place(index, index + word.length),
  }))
}
