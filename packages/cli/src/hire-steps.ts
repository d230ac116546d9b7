/** The steps of a hire as a person reads them. */
import type { HireStep } from '@chimera/agent/hire/steps'
import { clockTime } from './agent/log-lines.ts'
import type { LiveLine } from './live-line.ts'

const TENTHS = 10

export function showSteps(line: LiveLine, { isLive }: { readonly isLive: boolean }) {
  let tenth = -1
  return (step: HireStep): void => {
    const now = standing(step)
    const word = lasting(step)
    if (word !== undefined) line.note(word)
    if (now === undefined) return
    if (step.is === 'progress' && !isLive) {
      // A log wants to know that it goes on, not each percent.
      const reached = Math.floor(step.share * TENTHS)
      if (reached === tenth && step.note === undefined) return
      tenth = reached
    }
    line.show(now)
  }
}

/** How it stands; undefined where the step changes nothing about that. */
function standing(step: HireStep): string | undefined {
  switch (step.is) {
    case 'looking':
      return `Looking for ${step.skill} …`
    case 'found':
      return step.candidates.length === 0 ? undefined : `${step.candidates.length} found …`
    case 'reserving':
      return `Offering it to ${step.name} …`
    case 'reserved':
      return `${step.name} has a slot …`
    case 'asked':
      return `Asking ${step.name}, ${priceOf(step.price)} …`
    case 'accepted':
      return `${step.name} is at work …`
    case 'deferred':
      return `${step.name} has it in line and answers by ${clockTime(step.until)} …`
    case 'progress':
      return `${step.name} ${bar(step.share)} ${percent(step.share)}${tail(step.note)}`
    case 'waiting':
      return `All are full; asking again at ${clockTime(step.until)} …`
    case 'unknown':
      return `An answer of ${step.name} was lost; finding out whether it is at work …`
    case 'resumed':
      return `${step.name} was asked before under this key; going on from there …`
    case 'result':
      return step.how === 'done' ? `${step.name} is done; settling …` : undefined
    default:
      return undefined
  }
}

/** What is worth reading afterwards, too. */
function lasting(step: HireStep): string | undefined {
  if (step.is === 'declined') {
    const { name, how, sentence } = step.declined
    return how === 'silent' ? `${name} did not answer.` : `${name} refused: ${sentence}`
  }
  if (step.is === 'deprecated') {
    const day = new Date(step.removedAt).toISOString().slice(0, TENTHS)
    return `${step.skill} of ${step.name} will be gone on ${day}.`
  }
  return undefined
}

const priceOf = (credits: number): string =>
  credits === 0 ? 'free' : `${credits.toFixed(2)} credits`
const percent = (share: number): string => `${Math.round(share * 100)}%`.padStart(4)
const tail = (note: string | undefined): string => (note === undefined ? '' : `  ${note}`)

function bar(share: number): string {
  const filled = Math.floor(Math.min(Math.max(share, 0), 1) * TENTHS)
  return `[${'#'.repeat(filled)}${'.'.repeat(TENTHS - filled)}]`
}
