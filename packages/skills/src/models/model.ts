/**
 * A language model as the skills see it: a question in, a checked value out. A port, so that no
 * skill knows whose model answers, and nothing of an SDK is loaded before somebody asks.
 *
 *   M1  What comes back fits the schema that was asked for; whatever else is said is a failure.
 *   M2  A model is asked once. Who tries again, and whom instead, is the runner's to say.
 *   M3  Every answer is accounted for, also one that could not be used: it was paid for.
 */
import type { Static, TSchema } from 'typebox'
import type { Use } from './prices.ts'

export type Ask<Schema extends TSchema = TSchema> = {
  /** For the log and the bill: which skill asks. */
  readonly purpose: string
  /** Ours alone: nothing that a stranger wrote stands in it. */
  readonly system: string
  /** What strangers wrote stands in here, as `strangersData` writes it. */
  readonly prompt: string
  readonly schema: Schema
  readonly temperature: number
  readonly maxOutputTokens: number
  readonly timeoutMs: number
}

export type Answered<Value> = { readonly value: Value; readonly use: Use }

export type Model = {
  /** As the answers of the skills name it. */
  readonly name: string
  readonly ask: <Schema extends TSchema>(
    ask: Ask<Schema>,
    signal: AbortSignal,
  ) => Promise<Answered<Static<Schema>>>
  readonly close: () => Promise<void>
}

// biome-ignore format: a table is read by its columns
const SENTENCES = {
  missing_package: 'The packages that this model needs are not installed.',
  no_key:          'This model needs a key, and there is none.',
  bad_address:     'The address of this model cannot be used.',
  too_long:        'What the model was to be asked is longer than the limit.',
  unauthorised:    'The model refused the key.',
  rate_limited:    'The model takes no more requests for now.',
  unavailable:     'The model could not be reached, or broke off.',
  timeout:         'The model did not answer in time.',
  refused:         'The model refused to answer.',
  cut:             'The model was cut off before it had said all.',
  unusable:        'The model answered with something else than was asked for.',
} as const

export type ModelFailureCode = keyof typeof SENTENCES

/** Why a model gave nothing. Neither words of its provider nor a key are in it. */
export class ModelFailure extends Error {
  override readonly name = 'ModelFailure'
  readonly code: ModelFailureCode
  /** For the operator. */
  readonly detail: string
  readonly retryAfterMs?: number

  constructor(
    code: ModelFailureCode,
    detail: string = code,
    { retryAfterMs }: { readonly retryAfterMs?: number } = {},
  ) {
    super(`${SENTENCES[code]} (${detail})`)
    this.code = code
    this.detail = detail
    if (retryAfterMs !== undefined) this.retryAfterMs = retryAfterMs
  }
}

/** Whether a model was too slow, which is not the same as wrong. */
export const isLate = (error: unknown): boolean =>
  error instanceof ModelFailure && error.code === 'timeout'

/** What the operator reads of it; of other errors nothing, since they may hold anything. */
export const detailOf = (error: unknown): { readonly detail?: string } =>
  error instanceof ModelFailure ? { detail: error.message } : {}
