/**
 * What a skill can end in, and what follows from it: how often it is tried again, who is asked
 * instead, who is told, what is answered in the end (SK-2). The codes and numbers are those of the
 * Skills API; a skill adds its own rows, or puts its own in the place of these.
 *
 *   E1  Nothing is tried again that is not retryable.
 *   E2  The words are for the caller and name nothing of the inside.
 */
import { COMMON_ERRORS, type Ending, type ErrorRow } from '@chimera/dialects/skills/error-codes'
import { LIMITS } from '@chimera/domain/limits'

export type { Ending, ErrorRow }

/** A whole row, the part that differs from the usual, or only the words. */
export type ErrorOption = string | (Partial<ErrorRow> & Pick<ErrorRow, 'words'>)

const refuse = { retryable: false, retries: 0, ending: 'refuse' } as const
const retry = { retryable: true, retries: LIMITS.skillRetries, ending: 'refuse' } as const

// biome-ignore format: a table is read by its columns
/** What any skill may end in: what the runner itself says, and what skills have in common. */
export const COMMON_ROWS = {
  ...COMMON_ERRORS,
  PLATFORM_UNAVAILABLE: { http: 503, ...retry,  words: 'The platform does not answer.' },
  TX_FAILED:            { http: 502, ...retry,  escalate: true, words: 'The chain did not take the transaction.' },
  WALLET_ERROR:         { http: 500, ...retry,  retries: 2, escalate: true, words: 'The wallet could not be read.' },
  INVALID_PLATFORM:     { http: 400, ...refuse, words: 'The platform is not one that the skill knows.' },
  // What these two mean of a call: the table has the words for a message.
  TOO_EARLY:            { ...COMMON_ERRORS.TOO_EARLY, words: 'It is under way already. Ask again later with the same key.' },
  CONFLICT:             { ...COMMON_ERRORS.CONFLICT,  words: 'Something else was asked for under this key.' },
} as const satisfies Record<string, ErrorRow>

export type CommonCode = keyof typeof COMMON_ROWS

/** What an option leaves out is as for an error that asking again does not cure. */
export function completeRow(option: ErrorOption): ErrorRow {
  if (typeof option === 'string') return { http: 422, ...refuse, words: option }
  const usual = option.retryable === true ? { http: 503, ...retry } : { http: 422, ...refuse }
  return { ...usual, ...option }
}
