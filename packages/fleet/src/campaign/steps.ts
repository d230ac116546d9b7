/**
 * One step of a campaign: somebody is hired for it, and it is written down before and after.
 *
 *   S1  A step has a name, and is hired under it: taken again after a crash it finds what was done,
 *       and is neither done nor paid twice.
 *   S2  Before a step costs anything the CFO Judge agrees to it; a refusal is an answer, not a bug.
 *   S3  Steps that cost follow each other, so that two of them never count on the same credits.
 *   S4  Who is away is waited for, for an hour at most, since an approval lasts two; meanwhile the
 *       step says on the board whom it waits for.
 */
import { centsOf, writeCents, writeInstant } from '@chimera/dialects/wire'
import type { Instant } from '@chimera/domain/ids'
import type { SkillContext } from '@chimera/skill/contract'
import type { ApproveSpendInput } from '../approve-spend.ts'
import type { Book } from './book.ts'
import { isAway, waitMs } from './patience.ts'
import { type CampaignStep, stepOf, withStep } from './record.ts'

export type Wanted = {
  readonly step: string
  readonly skill: string
  readonly input: Readonly<Record<string, unknown>>
  readonly piece?: string
}

/** It came to nothing; the words are for whoever looks at the board. */
export class StepFailure extends Error {
  override readonly name = 'StepFailure'
  readonly step: string

  constructor(step: string, words: string, options?: ErrorOptions) {
    super(words, options)
    this.step = step
  }
}

export type StepHands = {
  readonly book: Book
  readonly hire: SkillContext['hire']
  readonly now: () => Instant
  readonly signal: AbortSignal
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  /** The most that one call of a skill may cost, in credits. */
  readonly most: (skill: string) => number
  /** Until nobody wants it paused. */
  readonly unpaused: () => Promise<void>
}

export type Steps = {
  readonly take: (wanted: Wanted) => Promise<Readonly<Record<string, unknown>>>
}

const WORDS = 1_000
// S4.
const PATIENCE_MS = 60 * 60_000

export function createSteps(hands: StepHands): Steps {
  const { book, hire, now, signal } = hands
  let turn: Promise<unknown> = Promise.resolve()

  async function write(entry: CampaignStep): Promise<void> {
    await book.change((record, at) => withStep(record, entry, at))
  }

  /** S2. The judge is free, so that asking it never fails for money. */
  async function agreed({ step, skill, piece }: Wanted, costCents: number): Promise<void> {
    const { campaign_id, budget } = book.record()
    const input: ApproveSpendInput = {
      campaign_id,
      budget: budget.total,
      spent: budget.spent,
      wanted: writeCents(costCents),
      what: `${skill}${piece === undefined ? '' : ` for ${piece}`}`,
    }
    const { output } = await hire('approve_spend', input)
    if (output.approved !== true) throw new StepFailure(step, String(output.reason))
  }

  async function takeInTurn(wanted: Wanted): Promise<Readonly<Record<string, unknown>>> {
    const { step, skill, input, piece } = wanted
    const before = stepOf(book.record(), step)
    const left = centsOf(book.record().budget.total) - centsOf(book.record().budget.spent)
    const most = centsOf(hands.most(skill))
    const isDone = before?.state === 'done'
    const budget = writeCents(isDone ? most : Math.min(most, Math.max(left, 0)))
    const entry: CampaignStep = {
      step,
      skill,
      ...(piece !== undefined && { piece_id: piece }),
      state: 'running',
      attempts: before?.attempts ?? 0,
      cost: before?.cost ?? 0,
      began_at: before?.began_at ?? writeInstant(now()),
    }
    let { attempts } = entry
    const ended = (more: Partial<CampaignStep>) =>
      write({ ...entry, attempts, ended_at: writeInstant(now()), ...more })
    let words: string | undefined

    async function once(): Promise<Readonly<Record<string, unknown>>> {
      if (!isDone) {
        attempts += 1
        await write({ ...entry, attempts, ...(words !== undefined && { words }) })
        await agreed(wanted, most)
      }
      const { output, cost } = await hire(skill, input, { budget, key: step })
      // What was done before a crash keeps the times that it had.
      if (!isDone) await ended({ state: 'done', cost })
      return output
    }

    const until = now() + PATIENCE_MS
    for (let failures = 1; ; failures += 1) {
      try {
        return await once()
      } catch (cause) {
        signal.throwIfAborted()
        words = wordsOf(cause)
        // S4.
        const ms = waitMs(failures)
        if (isAway(cause) && now() + ms <= until) {
          await hands.sleep(ms, signal)
          continue
        }
        if (!isDone) await ended({ state: 'failed', words })
        throw cause instanceof StepFailure ? cause : new StepFailure(step, words, { cause })
      }
    }
  }

  return {
    async take(wanted) {
      await hands.unpaused()
      // S3.
      const mine = turn.then(() => takeInTurn(wanted))
      turn = mine.catch(() => undefined)
      return mine
    },
  }
}

function wordsOf(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : String(cause)
  return text.slice(0, WORDS) || 'it failed without a word'
}
