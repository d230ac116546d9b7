/**
 * Text in columns of a terminal.
 *
 *   T1  A text takes exactly the columns that it was given, whatever strangers have put in it: no
 *       control characters, no heaps of marks, and wide signs are counted as wide.
 *   T2  Letters that run from right to left stay in their cell: the line around them is told to run
 *       from left to right.
 */
import { plain } from '../show.ts'

// East Asian wide and full-width forms, and signs that terminals draw as pictures.
const WIDE =
  /[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18fff}\u{1aff0}-\u{1b2ff}\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u
const MARK = /\p{M}/u
// What has no width and no meaning here; a selector would make a sign wide after it was counted.
const UNSEEN = /[\p{Cf}\p{Co}\p{Cs}\p{Cn}\p{Default_Ignorable_Code_Point}]/u
const RIGHT_TO_LEFT =
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u
const LEFT_TO_RIGHT = '\u200e'
// Enough for every script that is written; more is a heap that reaches into other lines.
const MARKS = 2

/** Signs with the columns that each takes: a mark takes none. */
function* signsOf(text: string): Generator<readonly [sign: string, columns: number]> {
  let marks = 0
  let begun = false
  for (const sign of plain(text.normalize('NFC'))) {
    if (UNSEEN.test(sign)) continue
    if (MARK.test(sign)) {
      marks += 1
      if (begun && marks <= MARKS) yield [sign, 0]
      continue
    }
    marks = 0
    begun = true
    yield [sign, WIDE.test(sign) ? 2 : 1]
  }
}

export function widthOf(text: string): number {
  let width = 0
  for (const [, columns] of signsOf(text)) width += columns
  return width
}

export type Align = 'left' | 'right'

/** Cut or filled up to so many columns; what is cut ends with a sign for that. */
export function fit(text: string, columns: number, align: Align = 'left'): string {
  if (columns <= 0) return ''
  let shown = ''
  let width = 0
  // As much as there is room for beside the sign of the cut.
  let short = { shown: '', width: 0 }
  let isCut = false
  for (const [sign, wide] of signsOf(text)) {
    if (width + wide > columns) {
      isCut = true
      break
    }
    shown += sign
    width += wide
    if (width <= columns - 1) short = { shown, width }
  }
  if (isCut) {
    shown = `${short.shown}…`
    width = short.width + 1
  }
  const blank = ' '.repeat(columns - width)
  // T2.
  const held = RIGHT_TO_LEFT.test(shown) ? `${LEFT_TO_RIGHT}${shown}${LEFT_TO_RIGHT}` : shown
  return align === 'left' ? held + blank : blank + held
}
