/**
 * A text as a reader sees it: without accents, invisible characters and letters that only look like
 * letters, each character knowing where it came from.
 *
 *   F1  Every character of the folded text has its place in the original, in rising order.
 */
export type Folded = {
  readonly text: string
  /** Where a stretch of the folded text stands in the original. */
  readonly place: (start: number, end: number) => { readonly start: number; readonly end: number }
}

// Soft hyphen, joiners, marks of direction, variation selectors: seen by nobody.
const UNSEEN = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/u
const MARKS = /\p{M}+/gu
// Letters of other alphabets that a reader takes for Latin ones, and that Unicode does not fold.
const LOOKS_LIKE: Readonly<Record<string, string>> = {
  а: 'a',
  в: 'b',
  с: 'c',
  ԁ: 'd',
  е: 'e',
  ё: 'e',
  ғ: 'f',
  һ: 'h',
  і: 'i',
  ї: 'i',
  ј: 'j',
  к: 'k',
  ӏ: 'l',
  м: 'm',
  п: 'n',
  о: 'o',
  р: 'p',
  ԛ: 'q',
  г: 'r',
  ѕ: 's',
  т: 't',
  ц: 'u',
  ѵ: 'v',
  ԝ: 'w',
  х: 'x',
  у: 'y',
  А: 'A',
  В: 'B',
  С: 'C',
  Е: 'E',
  Н: 'H',
  І: 'I',
  Ј: 'J',
  К: 'K',
  М: 'M',
  О: 'O',
  Р: 'P',
  Ѕ: 'S',
  Т: 'T',
  Х: 'X',
  У: 'Y',
  α: 'a',
  β: 'b',
  ε: 'e',
  η: 'n',
  ι: 'i',
  κ: 'k',
  ν: 'v',
  ο: 'o',
  ρ: 'p',
  σ: 'o',
  τ: 't',
  υ: 'u',
  χ: 'x',
  ω: 'w',
  Α: 'A',
  Β: 'B',
  Ε: 'E',
  Ζ: 'Z',
  Η: 'H',
  Ι: 'I',
  Κ: 'K',
  Μ: 'M',
  Ν: 'N',
  Ο: 'O',
  Ρ: 'P',
  Τ: 'T',
  Υ: 'Y',
  Χ: 'X',
  ı: 'i',
  ł: 'l',
  ø: 'o',
  đ: 'd',
  ħ: 'h',
  ŧ: 't',
  ß: 'ss',
  ɑ: 'a',
  ɡ: 'g',
  ʏ: 'y',
  ᴀ: 'a',
  ʙ: 'b',
  ᴄ: 'c',
  ᴅ: 'd',
  ᴇ: 'e',
  ɢ: 'g',
  ʜ: 'h',
  ɪ: 'i',
  ᴊ: 'j',
  ᴋ: 'k',
  ʟ: 'l',
  ᴍ: 'm',
  ɴ: 'n',
  ᴏ: 'o',
  ᴘ: 'p',
  ʀ: 'r',
  ꜱ: 's',
  ᴛ: 't',
  ᴜ: 'u',
  ᴠ: 'v',
  ᴡ: 'w',
  ᴢ: 'z',
}

export function fold(original: string): Folded {
  const pieces: string[] = []
  const starts: number[] = []
  const ends: number[] = []
  let at = 0
  for (const character of original) {
    const start = at
    at += character.length
    if (UNSEEN.test(character)) continue
    const piece = LOOKS_LIKE[character] ?? plainOf(character)
    pieces.push(piece)
    for (let unit = 0; unit < piece.length; unit++) {
      starts.push(start)
      ends.push(at)
    }
  }
  return {
    text: pieces.join(''),
    place: (start, end) => ({
      start: starts[start] ?? original.length,
      end: ends[end - 1] ?? original.length,
    }),
  }
}

/** `ﬁ` is two letters, `Ⓐ` and `𝐀` are one, and an accent on its own is none. */
function plainOf(character: string): string {
  if (character < '\u0080') return character
  const plain = character.normalize('NFKD').replaceAll(MARKS, '')
  return LOOKS_LIKE[plain] ?? plain
}
