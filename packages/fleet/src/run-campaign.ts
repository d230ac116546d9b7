/**
 * `run_campaign`, the Orchestrator's own skill: a whole campaign as one piece of work. It may take
 * a day, since a person has to agree; cut off at any point, the agent takes it up again (SK-16).
 * What failed or was called off is put away, and asks nobody any more.
 */
import { type Clock, createClock } from '@chimera/skill/clock'
import { defineSkill } from '@chimera/skill/define'
import { archive } from './campaign/archive.ts'
import { askedIssues, RunCampaignInput, RunCampaignOutput } from './campaign/asked.ts'
import type { CampaignDesk } from './campaign/desk.ts'
import { DeskFailure } from './campaign/hub-desk.ts'
import { sleepOn } from './campaign/patience.ts'
import { runCampaign as run } from './campaign/run.ts'
import { StepFailure } from './campaign/steps.ts'
import { PRICES, type Prices } from './roles.ts'

export type RunCampaignOptions = {
  readonly desk: CampaignDesk
  readonly prices?: Prices
  readonly clock?: Clock
}

/** A hub that does not answer by then has the record as it was. */
const PUT_AWAY_MS = 5_000

const isCalledOff = ({ aborted, reason }: AbortSignal): boolean =>
  aborted && reason instanceof DOMException && reason.message === 'cancelled'

export function runCampaign({ desk, prices = PRICES, clock = createClock() }: RunCampaignOptions) {
  const price = prices.run_campaign ?? 0

  /** An agent that stops goes on later; only what is over is put away. */
  async function putAway(id: string, cause: unknown, signal: AbortSignal): Promise<void> {
    const hasFailed = !signal.aborted && cause instanceof StepFailure
    if (!hasFailed && !isCalledOff(signal)) return
    const words = hasFailed ? cause.message : 'it was called off'
    const within = AbortSignal.timeout(PUT_AWAY_MS)
    // Whoever asked hears how the run itself ended, whatever becomes of its record.
    await archive(id, { desk, now: clock.now, words, signal: within }).catch(() => undefined)
  }

  return defineSkill({
    name: 'run_campaign',
    version: '1.0',
    description: 'Runs a content campaign: trends, texts, a person’s approval, posts',
    price,
    input: RunCampaignInput,
    output: RunCampaignOutput,
    timeout: '24h',
    duration: '1m',
    errors: {
      STEP_FAILED: { http: 502, retryable: false, words: 'A step that all others need failed.' },
      DESK_UNAVAILABLE: { http: 503, retryable: true, words: 'The hub does not keep the record.' },
    },
    check: { input: (asked) => askedIssues(asked, price) },
    run: async (asked, { signal, until, hire, now, progress, awaiting, failure }) => {
      const hands = { desk, hire, now, signal, until, progress, awaiting }
      const most = (skill: string): number => prices[skill] ?? 0
      const sleep = (ms: number, until: AbortSignal) => sleepOn(clock, ms, until)
      try {
        return await run(asked, { ...hands, most, sleep })
      } catch (cause) {
        await putAway(asked.campaign.campaign_id, cause, signal)
        if (signal.aborted) throw cause
        const detail = cause instanceof Error ? cause.message : String(cause)
        if (cause instanceof StepFailure) throw failure('STEP_FAILED', { cause, detail })
        if (cause instanceof DeskFailure) throw failure('DESK_UNAVAILABLE', { cause, detail })
        throw cause
      }
    },
  })
}
