/**
 * The window score: how reliably an agent has worked of late, whoever asked (OC-7, OC-8).
 *
 *   W1  Rates look at the last 100 outcomes, counts at the whole life.
 *   W2  All figures are whole numbers, rates and score in millionths of one. The score follows from
 *       the published figures exactly, so whoever reads them can check it.
 *   W3  An agent without history stands in the middle.
 */

import type { Instant } from '../ids.ts'
import { LIMITS } from '../limits.ts'
import { halfEven } from './half-even.ts'
import { countsForWindow, type Outcome } from './outcome.ts'

const ONE_MICRO = 1_000_000
export const UNTRIED_WINDOW_MICRO = 500_000

/** Tenths: success 0.6, punctuality 0.3, speed of response 0.1, by the OpenClaw document. */
const WEIGHTS = { success: 6, onTime: 3, response: 1 } as const

export type WindowEntry = {
  readonly done: boolean
  readonly onTime: boolean
  readonly responseMs: number
}

export type WindowRecord = {
  readonly doneCount: number
  readonly failedCount: number
  /** Oldest first, at most as many as the window holds. */
  readonly recent: readonly WindowEntry[]
}
export const NO_WINDOW: WindowRecord = { doneCount: 0, failedCount: 0, recent: [] }

/** What the score is made of, over the window. */
export type WindowMetrics = {
  readonly successMicro: number
  readonly onTimeMicro: number
  readonly averageResponseMs: number
}

export function applyToWindow(record: WindowRecord, outcome: Outcome): WindowRecord {
  if (!countsForWindow(outcome).counts) return record
  const done = outcome.ending.how === 'done'
  const entry = { done, onTime: done && isOnTime(outcome), responseMs: responseMs(outcome) }
  return {
    doneCount: record.doneCount + (done ? 1 : 0),
    failedCount: record.failedCount + (done ? 0 : 1),
    recent: [...record.recent, entry].slice(-LIMITS.outcomeWindow),
  }
}

/** Undefined without history: a rate of nothing would be a lie in either direction. */
export function measureWindow({ recent }: WindowRecord): WindowMetrics | undefined {
  if (recent.length === 0) return undefined
  const done = recent.filter((each) => each.done)
  const onTime = done.filter((each) => each.onTime)
  const waitedMs = recent.reduce((sum, each) => sum + each.responseMs, 0)
  return {
    successMicro: shareMicro(done.length, { of: recent.length }),
    // Nothing done is nothing done in time.
    onTimeMicro: done.length === 0 ? 0 : shareMicro(onTime.length, { of: done.length }),
    averageResponseMs: halfEven({ numerator: waitedMs, denominator: recent.length }),
  }
}

/** In millionths of one: 500 000 is 0.5. */
export function windowScore(metrics: WindowMetrics | undefined): number {
  if (metrics === undefined) return UNTRIED_WINDOW_MICRO
  const weighed =
    WEIGHTS.success * metrics.successMicro +
    WEIGHTS.onTime * metrics.onTimeMicro +
    WEIGHTS.response * responseMicro(metrics.averageResponseMs)
  return halfEven({ numerator: weighed, denominator: 10 })
}

/** 1 for an instant answer, 0 for one that took the protocol's own limit of 10 s or longer. */
export function responseMicro(averageMs: number): number {
  const leftMs = Math.max(0, LIMITS.responseMs - averageMs)
  return halfEven({ numerator: leftMs * ONE_MICRO, denominator: LIMITS.responseMs })
}

/** By the deadline, else by the agent's own estimate; who promised neither was not late. */
function isOnTime({ endedAt, deadline, estimatedEnd }: Outcome): boolean {
  const due: Instant | undefined = deadline ?? estimatedEnd
  return due === undefined || endedAt <= due
}

/** Two clocks may disagree by more than the wait; an answer before the question took no time. */
function responseMs({ receivedAt, respondedAt }: Outcome): number {
  return Math.max(0, respondedAt - receivedAt)
}

function shareMicro(part: number, { of }: { readonly of: number }): number {
  return halfEven({ numerator: part * ONE_MICRO, denominator: of })
}
