/**
 * Offensive language, also where it is written so that a machine would miss it: with digits for
 * letters, look-alikes from other alphabets, invisible characters, or spaces between the letters.
 *
 *   O1  A word that merely contains an offensive one is not offensive: Scunthorpe is a town.
 *   O2  What the user allows is never reported, however it is written.
 */
import { englishDataset, englishRecommendedTransformers, RegExpMatcher } from 'obscenity'
import type { Finding, Passage } from './finding.ts'
import { fold } from './folded.ts'

export type OffensiveHands = {
  /** Words that are fine here: a name, a title, a term of the trade. */
  readonly allow?: readonly string[]
}

export type OffensiveCheck = (passage: Passage) => readonly Finding[]

// Three letters with something between each: `f u c k`, `s.h.i.t`, `d-a-m-n`.
const SPELLED =
  /(?<![\p{L}\p{N}])(?:[\p{L}\p{N}@$!][\s._*~-]{1,2}){2,20}[\p{L}\p{N}@$!](?![\p{L}\p{N}])/gu
const BETWEEN = /[\s._*~-]+/g
const PROFANE = 'This is offensive to many readers. Say it in other words.'
// Words of the kitchen, the laboratory and the map that the list of words would stumble over.
const HARMLESS = [
  'shiitake',
  'retardant',
  'retardation',
  'cockatoo',
  'cockney',
  'cockpit',
  'dickens',
]

type Wording = Pick<Finding, 'rule' | 'severity' | 'message'> & { readonly pattern: RegExp }

// What no single word gives away. Read on the folded text, in small letters.
const WORDINGS: readonly Wording[] = [
  {
    rule: 'threat',
    severity: 'error',
    message: 'This threatens somebody, or tells them to harm themselves. Take it out.',
    pattern:
      /\b(?:kill (?:yourself|urself|yourselves)|kys|go (?:and )?die|(?:you|they|he|she) (?:all )?(?:deserves?|ought|should) (?:to )?(?:die|be (?:shot|killed|hanged|beaten))|(?:i|we)(?: will|'ll) (?:kill|hurt|beat up|come for) (?:you|him|her|them))\b/g,
  },
  {
    rule: 'insult',
    severity: 'warning',
    message: 'This insults whoever is meant. Speak of what they did instead.',
    pattern:
      /\b(?:(?:you|you're|they|they're|he|he's|she|she's|these|those|such|what|fans|users|people) (?:are |is )?(?:all )?(?:an? |such )?(?:total |complete |utter |bunch of |pack of )*(?:idiots?|morons?|imbeciles?|losers?|scum|vermin|trash|clowns|dumbass(?:es)?|stupid people)|shut up)\b/g,
  },
  {
    rule: 'demeaning_group',
    severity: 'error',
    message: 'This demeans a group of people for what they are. Take it out.',
    pattern:
      /\b(?:all|those|these|typical) (?:\w+ )?(?:women|men|immigrants|foreigners|muslims|jews|christians|blacks|whites|asians|africans|gays|refugees|old people|poor people|boomers|millennials) (?:are|is) (?:\w+ )?(?:stupid|lazy|criminals?|thieves|liars|dirty|inferior|animals|evil|worthless|bad drivers)\b/g,
  },
]

const WORD = { rule: 'offensive_language', severity: 'error', message: PROFANE } as const

export function createOffensiveCheck({ allow = [] }: OffensiveHands = {}): OffensiveCheck {
  const allowed = new Set(allow.map((word) => fold(word).text.toLowerCase()))
  const dataset = englishDataset.build()
  const matcher = new RegExpMatcher({
    ...dataset,
    whitelistedTerms: [...(dataset.whitelistedTerms ?? []), ...HARMLESS, ...allowed],
    ...englishRecommendedTransformers,
  })

  const isAllowed = (text: string): boolean => allowed.has(text.toLowerCase())

  return ({ field, text }) => {
    const folded = fold(text)
    const places = new Map<string, Finding>()
    const add = (start: number, end: number, wording: Omit<Wording, 'pattern'> = WORD): void => {
      const { rule, severity, message } = wording
      const span = { field, ...folded.place(start, end) }
      places.set(`${rule} ${span.start}`, { rule, severity, message, span })
    }
    for (const { startIndex, endIndex } of matcher.getAllMatches(folded.text, true)) {
      if (!isAllowed(folded.text.slice(startIndex, endIndex + 1))) add(startIndex, endIndex + 1)
    }
    for (const { index, 0: spelled } of folded.text.matchAll(SPELLED)) {
      const word = spelled.replaceAll(BETWEEN, '')
      if (!isAllowed(word) && matcher.hasMatch(word)) add(index, index + spelled.length)
    }
    const lower = folded.text.toLowerCase().replaceAll('’', "'")
    // A capital that is two small letters moves what follows; then the patterns see capitals.
    const even = lower.length === folded.text.length ? lower : folded.text
    for (const { pattern, ...wording } of WORDINGS) {
      for (const { index, 0: words } of even.matchAll(pattern)) {
        if (!isAllowed(words)) add(index, index + words.length, wording)
      }
    }
    return [...places.values()]
  }
}
