/**
 * What strangers wrote, made harmless for the eye. React shows text as text; what is left are
 * characters that change how the text around them is read.
 *
 *   H1  Controls of direction, and characters without a width or a shape, are shown by their code.
 *   H2  Line ends and tabs become blanks: a name is one line.
 */
const TRICKS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

export function plainText(text: string): string {
  return text
    .replaceAll(/[\t\n\r]+/g, ' ')
    .replaceAll(TRICKS, (each) => `⟨${(each.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}⟩`)
}

/** H1 for what has lines of its own. */
export const plainLines = (text: string): string =>
  text
    .split(/\r\n|[\n\r]/)
    .map(plainText)
    .join('\n')

/** The beginning of an id: enough to tell two apart by eye. */
export function shortId(id: string): string {
  return id.length > 12 ? id.slice(0, 8) : id
}

/** `hold_captured` → `Hold captured`. */
export function sentence(word: string): string {
  const words = word.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
