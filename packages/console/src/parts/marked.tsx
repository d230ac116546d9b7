/** A text of a stranger, with what a judge found in it marked and numbered. */
import type { ReviewSeen } from '@chimera/dialects/chimera'
import { plainLines } from '../format/text.ts'
import type { Tone } from '../state/hires.ts'
import { splitMarks } from '../state/marks.ts'

type Issue = ReviewSeen['issues'][number]

type MarkedProps = {
  readonly text: string
  readonly field: string
  readonly issues: readonly Issue[]
}

export const SEVERITY_TONES: Readonly<Record<Issue['severity'], Tone>> = {
  error: 'bad',
  warning: 'warn',
  info: 'plain',
}
const WORST = ['error', 'warning', 'info'] as const

export function Marked({ text, field, issues }: MarkedProps) {
  const spans = issues.map(({ span }) => (span?.field === field ? span : undefined))
  const parts = splitMarks(text, spans)
  return parts.map(({ text: words, start, marks }, at) => {
    const shown = <bdi key={start}>{plainLines(words)}</bdi>
    if (marks.length === 0) return shown
    const found = marks.flatMap((mark) => issues[mark] ?? [])
    const worst = WORST.find((each) => found.some(({ severity }) => severity === each)) ?? 'info'
    // The number stands once, where the mark ends.
    const ending = marks.filter((mark) => !parts[at + 1]?.marks.includes(mark))
    return (
      <mark
        key={start}
        className={SEVERITY_TONES[worst]}
        title={found.map(({ message }) => plainLines(message)).join('\n')}
      >
        {shown}
        {ending.length > 0 && <sup>{ending.map((mark) => mark + 1).join(' ')}</sup>}
      </mark>
    )
  })
}
