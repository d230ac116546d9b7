/** Whether a text is free of what a persona never says: forbidden words and associations. */
import type { Persona } from '@chimera/dialects/skills/persona'
import { fold } from '../judge/folded.ts'

export function allowedBy({
  vocabulary,
  brand_guidelines: brand,
}: Persona): (text: string) => boolean {
  const forbidden = [...vocabulary.forbidden_words, ...(brand?.forbidden_associations ?? [])]
    .map((word) => spaced(word).trim())
    .filter((word) => word !== '')
  return (text) => {
    const plain = ` ${spaced(text)} `
    return !forbidden.some((word) =>
      [word, `${word}s`, `${word}es`].some((each) => plain.includes(` ${each} `)),
    )
  }
}

const spaced = (text: string): string =>
  fold(text)
    .text.toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
