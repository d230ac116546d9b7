/**
 * What identifies a private person: addresses, numbers, accounts.
 *
 *   P1  A number with a check digit is one only if the digit is right.
 *   P2  What belongs to an organisation by its look, such as `press@…`, is nobody's in private.
 */
import { type Finding, type Passage, placesOf } from './finding.ts'

const MAIL = /[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,5}[a-z]{2,24}\b/gi
const OFFICE =
  /^(?:info|press|contact|hello|hi|support|help|sales|team|office|media|news|jobs|privacy|security|admin|service|editor|newsletter)\b/i
const PHONE =
  /(?<![\w.,/#-])(?:\+\d(?:[\s().-]{0,2}\d){8,14}|(?:\(\d{1,4}\)[\s.-]?)?\d{2,4}(?:[\s.-]\d{2,4}){1,4})(?![\w/-])/g
const CARD = /(?<![\w.-])\d(?:[ -]?\d){12,18}(?![\w-])/g
const IBAN = /\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b/g
const SOCIAL = /(?<![\w-])(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-])/g
const STREET =
  /\b\d{1,5} (?:[A-Z][a-z]+ ){1,3}(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Dr|Boulevard|Blvd|Court|Ct|Way|Place|Pl)\b\.?(?:,? (?:Apt|Apartment|Suite|Unit|#) ?\w+)?/g
const BORN =
  /\b(?:date of birth|born on|dob:?) (?:\d{1,2}[./-]\d{1,2}[./-]\d{2,4}|\d{4}-\d{2}-\d{2})\b/gi
const NUMBERED =
  /\b(?:passport|driver'?s licen[cs]e|id card|social security|ssn)(?: (?:number|no\.?))?:? ?#?[A-Z]{0,3}\d{5,12}\b/gi

type Kind = {
  readonly what: string
  readonly pattern: RegExp
  readonly isOne?: (words: string) => boolean
}

const KINDS: readonly Kind[] = [
  { what: 'a card number', pattern: CARD, isOne: isCard },
  { what: 'an account number', pattern: IBAN, isOne: isIban },
  { what: 'a social security number', pattern: SOCIAL },
  { what: 'the number of a document', pattern: NUMBERED },
  { what: 'a mail address', pattern: MAIL, isOne: (words) => !OFFICE.test(words) },
  { what: 'a telephone number', pattern: PHONE, isOne: isPhone },
  { what: 'a home address', pattern: STREET },
  { what: 'a date of birth', pattern: BORN },
]

export function checkPersonal(passage: Passage): readonly Finding[] {
  const findings: Finding[] = []
  const isTaken = (start: number, end: number): boolean =>
    findings.some(({ span }) => span !== undefined && span.start < end && start < span.end)
  for (const { what, pattern, isOne = () => true } of KINDS) {
    for (const { words, ...span } of placesOf(passage, pattern)) {
      if (!isOne(words) || isTaken(span.start, span.end)) continue
      const message = `This looks like ${what}. Take it out, unless its owner agreed.`
      findings.push({ rule: 'personal_data', severity: 'error', message, span })
    }
  }
  return findings
}

/** Nine digits or more, and written as one: years and amounts have no plus, dash or leading 0. */
function isPhone(words: string): boolean {
  const digits = words.replaceAll(/\D/g, '')
  if (digits.length < 9 || digits.length > 15) return false
  return words.startsWith('+') || words.startsWith('(') || /^0\d|[-.]|^\d{3} \d{3}/.test(words)
}

/** ISO/IEC 7812: each second digit from the right doubled, the sum divisible by ten. */
function isCard(words: string): boolean {
  const digits = Array.from(words.replaceAll(/\D/g, ''), Number).toReversed()
  const sum = digits.reduce((total, digit, at) => {
    const value = at % 2 === 0 ? digit : digit * 2
    return total + (value > 9 ? value - 9 : value)
  }, 0)
  return digits.length >= 13 && sum % 10 === 0 && new Set(digits).size > 1
}

/** ISO 13616: the first four at the end, letters as 10 to 35, modulo 97 one. */
function isIban(words: string): boolean {
  const plain = words.replaceAll(' ', '')
  if (plain.length < 15 || plain.length > 34) return false
  const moved = plain.slice(4) + plain.slice(0, 4)
  let rest = 0
  for (const character of moved) {
    const value = Number.parseInt(character, 36)
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97
  }
  return rest === 1
}
