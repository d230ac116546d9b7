/**
 * The one error: code, message, retryable, retry_after_seconds where it applies, details.
 * Each dialect puts its own word in `code`; the rest is the same everywhere.
 */
import type { Refused } from '@chimera/domain/decision'
import type { Instant } from '@chimera/domain/ids'
import { isRetryable, REFUSALS, type Refusal } from '@chimera/domain/refusals'
import { type Static, Type } from 'typebox'

export const ErrorBody = Type.Object(
  {
    code: Type.String({ description: 'What a program branches on' }),
    message: Type.String({ description: 'What a person reads: what is wrong and what to do next' }),
    retryable: Type.Boolean({ description: 'Whether the same request may succeed later' }),
    retry_after_seconds: Type.Optional(Type.Integer({ minimum: 1 })),
    details: Type.Optional(
      Type.Object({
        issues: Type.Optional(
          Type.Array(
            Type.Object({ path: Type.String(), expected: Type.String(), got: Type.String() }),
          ),
        ),
      }),
    ),
  },
  { title: 'Error', description: 'The one error shape of every door' },
)
export type ErrorBody = Static<typeof ErrorBody>

/** `word` is the code in the dialect's own vocabulary. */
export function encodeError(
  { refusal, particulars }: Refused<Refusal>,
  word: string,
  now: Instant,
): ErrorBody {
  const { issues, figures } = particulars
  const seconds = retryAfterSeconds(particulars.retryAt, now)
  return {
    code: word,
    message: REFUSALS[refusal].sentence,
    retryable: isRetryable(refusal),
    ...(seconds === undefined ? {} : { retry_after_seconds: seconds }),
    ...(issues === undefined && figures === undefined
      ? {}
      : { details: { ...figures, ...(issues === undefined ? {} : { issues: [...issues] }) } }),
  }
}

/** Whole seconds, rounded up: who comes back on the dot must not come too early. */
export function retryAfterSeconds(retryAt: Instant | undefined, now: Instant): number | undefined {
  return retryAt === undefined ? undefined : Math.max(1, Math.ceil((retryAt - now) / 1_000))
}
