/**
 * Who scores how relevant a trend is to a goal: a model, or the embedded sentence embeddings. A
 * port, so that the skill around it knows neither.
 */
import type { TrendData } from '@chimera/dialects/skills/trend'

export type Scored = {
  /** 0–1. */
  readonly score: number
  /** In words, what matched or why nothing did. */
  readonly reasoning: string
}

export type Scorer = {
  /** As the answer names it. */
  readonly name: string
  /** One for each trend, in the order of asking. Rejects when it cannot score. */
  readonly score: (
    trends: readonly TrendData[],
    goals: readonly string[],
    signal: AbortSignal,
  ) => Promise<readonly Scored[]>
  readonly close?: () => Promise<void>
}
