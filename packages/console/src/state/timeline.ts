/**
 * One hire from end to end, as it is read: the search that found its agent, what the trail says,
 * how far it came meanwhile, and what it did to the agent's scores.
 *
 *   L1  What the trail says stands in the trail's order; the rest is put in by its time.
 *   L2  A second try after an end is told as one.
 */
import type { encodeTrust, encodeWork } from '@chimera/dialects/chimera'
import { percentText } from '../format/figures.ts'
import type { Hire, Tone } from './hires.ts'
import { whyText } from './reasons.ts'

type Work = ReturnType<typeof encodeWork>
export type ScoreChange = ReturnType<typeof encodeTrust>['changes'][number]

export type Line = {
  readonly key: string
  readonly at: number
  readonly words: string
  readonly tone: Tone
  /** Where it comes from. */
  readonly about: string
  /** Strangers' words. */
  readonly note?: string
}

type Beside = {
  readonly work?: Pick<Work, 'found' | 'progress' | 'result'> | undefined
  /** Of its agent; those of other work are left out. */
  readonly changes?: readonly ScoreChange[] | undefined
}

export function timelineOf(hire: Hire, { work, changes = [] }: Beside = {}): readonly Line[] {
  const steps = stepsOf(hire, work?.result?.error?.message)
  const rated = ratingsOf(hire, changes)
  const others = [...foundIn(work), ...progressIn(work)]
  // L1.
  const lines = [...steps]
  for (const line of others.toSorted((a, b) => a.at - b.at)) {
    const after = lines.findLastIndex(({ at }) => at <= line.at)
    lines.splice(after + 1, 0, line)
  }
  return [...lines, ...rated]
}

const BEGINS = new Set(['slots_reserved', 'credits_held'])
const ENDS = new Set(['hold_released', 'hold_lapsed', 'reservation_ended'])

function stepsOf(hire: Hire, fault: string | undefined): readonly Line[] {
  let ended = false
  return hire.steps.map(({ seq, at, kind, words, tone }): Line => {
    const again = ended && BEGINS.has(kind)
    // L2. The next step of the same try is not one of its own.
    ended = ENDS.has(kind) || (ended && !BEGINS.has(kind))
    const isFault = kind === 'result_recorded' && tone === 'bad' && fault !== undefined
    return {
      key: `fact ${seq}`,
      at,
      words: again ? `Tried once more: ${words.charAt(0).toLowerCase()}${words.slice(1)}` : words,
      tone: again ? 'warn' : tone,
      about: `${kind.replaceAll('_', ' ')} · fact ${seq}`,
      ...(isFault && { note: fault }),
    }
  })
}

function foundIn(work: Beside['work']): readonly Line[] {
  const found = work?.found
  if (found === undefined) return []
  const { at, skill, place, of } = found
  const rank = of === 1 ? 'the only one' : `in place ${place} of ${of}`
  return [
    {
      key: 'found',
      at: Date.parse(at),
      words: `Found, ${rank} who ${of === 1 ? 'offers' : 'offer'} ${skill}`,
      tone: 'plain',
      about: 'discovery, as the hub remembers it',
    },
  ]
}

const progressIn = (work: Beside['work']): readonly Line[] =>
  (work?.progress ?? []).map(({ at, share, note }, index) => ({
    key: `progress ${index}`,
    at: Date.parse(at),
    words: `${percentText(share)} done`,
    tone: 'plain',
    about: 'progress, by the agent',
    ...(note !== undefined && { note }),
  }))

/** The fact that settled it is the one that moved the scores. */
function ratingsOf({ steps }: Hire, changes: readonly ScoreChange[]): readonly Line[] {
  const own = new Set(steps.map(({ seq }) => seq))
  return changes
    .filter(({ seq }) => own.has(seq))
    .map(({ seq, at, running }) => {
      const by = running.after - running.before
      const moved = running.counted
        ? `${running.after.toFixed(2)} (${by < 0 ? '−' : '+'}${Math.abs(by).toFixed(2)})`
        : 'unchanged'
      return {
        key: `rated ${seq}`,
        at: Date.parse(at),
        words: `Rated: its running score is ${moved}`,
        tone: running.counted ? (by < 0 ? 'bad' : 'good') : 'plain',
        about: whyText(running.reasons),
      }
    })
}

/** How often somebody was asked for it. */
export const triesOf = ({ steps }: Hire): number =>
  Math.max(
    1,
    steps.filter(({ kind }) => kind === 'credits_held').length,
    steps.filter(({ kind }) => kind === 'slots_reserved').length,
  )
