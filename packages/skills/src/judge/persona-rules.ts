/**
 * Whether content is in the persona's voice: never a forbidden word or association, always the
 * required disclaimers, and about as many emoji and hashtags as it likes.
 */
import type { ContentPackage } from '@chimera/dialects/skills/content'
import type { Persona } from '@chimera/dialects/skills/persona'
import { type Finding, type Passage, quoted } from './finding.ts'
import { fold } from './folded.ts'

const EMOJI = /\p{Extended_Pictographic}/gu
// Per passage; `heavy` has no limit.
const EMOJI_MOST: Readonly<Record<Persona['content_style']['emoji_usage'] & string, number>> = {
  none: 0,
  minimal: 3,
  moderate: 10,
  heavy: Number.POSITIVE_INFINITY,
}

export function checkPersona(
  content: ContentPackage,
  passages: readonly Passage[],
  { vocabulary, brand_guidelines: brand = {}, content_style: style }: Persona,
): readonly Finding[] {
  const { forbidden_associations: associations = [], required_disclaimers: said = [] } = brand
  return [
    ...vocabulary.forbidden_words.flatMap((word) =>
      named(passages, word, 'forbidden_word', 'is a word that this persona never uses'),
    ),
    ...associations.flatMap((word) =>
      named(passages, word, 'forbidden_association', 'must not be mentioned by this persona'),
    ),
    ...said.flatMap((disclaimer) => missing(content, disclaimer)),
    ...passages.flatMap((passage) => emoji(passage, EMOJI_MOST[style.emoji_usage ?? 'moderate'])),
  ]
}

/** Brands of others, which may be named only as was agreed with them. */
export function checkBrands(
  passages: readonly Passage[],
  brands: readonly string[],
): readonly Finding[] {
  const why = 'is a brand of somebody else: name it only as you agreed with them'
  return brands.flatMap((brand) => named(passages, brand, 'foreign_brand', why, 'warning'))
}

/** As a word of its own, in any case, with or without accents, in the plural too. */
function named(
  passages: readonly Passage[],
  word: string,
  rule: string,
  why: string,
  severity: Finding['severity'] = 'error',
): readonly Finding[] {
  const plain = fold(word).text.toLowerCase().trim()
  if (plain === '') return []
  const pattern = new RegExp(
    `(?<![\\p{L}\\p{N}])${literally(plain)}(?:s|es)?(?![\\p{L}\\p{N}])`,
    'giu',
  )
  return passages.flatMap(({ field, text }) => {
    const folded = fold(text)
    return Array.from(folded.text.matchAll(pattern), ({ index, 0: found }) => ({
      rule,
      severity,
      message: `${quoted(word)} ${why}.`,
      span: { field, ...folded.place(index, index + found.length) },
    }))
  })
}

/** In what is published: the script is what it is made from. */
function missing(content: ContentPackage, disclaimer: string): readonly Finding[] {
  const wanted = plainOf(disclaimer)
  const { captions, script, platform_variants: variants } = content
  const { twitter, tiktok, instagram, youtube } = variants ?? {}
  const shown = [
    captions,
    script,
    twitter?.text,
    tiktok?.description,
    instagram?.caption,
    youtube?.description,
  ]
  if (shown.some((text) => text !== undefined && plainOf(text).includes(wanted))) return []
  const message = `The disclaimer ${quoted(disclaimer)} is required and missing.`
  return [{ rule: 'missing_disclaimer', severity: 'error', message }]
}

function emoji({ field, text }: Passage, most: number): readonly Finding[] {
  const found = [...text.matchAll(EMOJI)]
  const first = found[most]
  if (found.length <= most || first === undefined) return []
  const fine = most === 0 ? 'none' : `at most ${most}`
  const message = `${found.length} emoji; this persona uses ${fine}.`
  const span = { field, start: first.index, end: first.index + first[0].length }
  return [{ rule: 'emoji_usage', severity: 'info', message, span }]
}

const plainOf = (text: string): string =>
  fold(text)
    .text.toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

const literally = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
