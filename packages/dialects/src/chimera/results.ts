/**
 * Many results of one agent in one message. Each is OpenClaw's own and is judged by itself: what is
 * wrong with one does not harm the others.
 */
import { type Refused, refuse } from '@chimera/domain/decision'
import type { Instant } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import { REFUSALS, type Refusal } from '@chimera/domain/refusals'
import { type Static, Type } from 'typebox'
import { checker, reader } from '../check.ts'
import { ErrorBody, encodeError } from '../error.ts'
import type { Messages } from '../messages.ts'

const Result = Type.Object({}, { description: 'A collaboration result of OpenClaw' })

export const ResultBatch = Type.Object(
  { results: Type.Array(Result, { minItems: 1, maxItems: LIMITS.resultsAtOnce }) },
  { title: 'Results', additionalProperties: false },
)
export const ResultOutcomes = Type.Object(
  {
    outcomes: Type.Array(Type.Object({ taken: Type.Boolean(), error: Type.Optional(ErrorBody) }), {
      description: 'One for each result, in their order',
    }),
  },
  { title: 'Outcomes of results' },
)

/** Whether one result was taken, and why not. */
export type ResultOutcome = { readonly ok: true } | Refused<Refusal>

export const encodeResultBatch = (results: readonly object[]) => ({ results })
export const readResultBatch = reader(
  checker(ResultBatch),
  ({ results }): readonly object[] => results,
)

export const encodeResultOutcomes = (
  outcomes: readonly ResultOutcome[],
  now: Instant,
): Static<typeof ResultOutcomes> => ({
  outcomes: outcomes.map((each) =>
    each.ok ? { taken: true } : { taken: false, error: encodeError(each, each.refusal, now) },
  ),
})
/** When to come back is left to whoever asks again: it has a schedule. */
export const readResultOutcomes = reader(
  checker(ResultOutcomes),
  ({ outcomes }): readonly ResultOutcome[] =>
    outcomes.map(({ taken, error }) =>
      taken ? { ok: true } : refuse(refusalOf(error?.code, error?.retryable)),
    ),
)

/** What a hub of another version says no with stays a no. */
export function refusalOf(code: string | undefined, retryable = false): Refusal {
  if (code !== undefined && Object.hasOwn(REFUSALS, code)) return code as Refusal
  return retryable ? 'service_unavailable' : 'policy_violated'
}

export const RESULT_MESSAGES = {
  'result-batch': { schema: ResultBatch, read: readResultBatch },
  'result-outcomes': { schema: ResultOutcomes, read: readResultOutcomes },
} satisfies Messages
