/**
 * What a skill can end in, and what follows from it: how often it is tried again, who is asked
 * instead, who is told, what is answered in the end (SK-2). The codes and numbers are those of the
 * Skills API; a skill adds its own rows, or puts its own in the place of these.
 *
 *   E1  Nothing is tried again that is not retryable.
 *   E2  The words are for the caller and name nothing of the inside.
 */

import { LIMITS } from '@chimera/domain/limits'
import type { Recovery } from '@chimera/domain/skill/retry'

/** What is answered when the tries are used up; all but the first need the skill's `recover`. */
export type Ending =
  | 'refuse' // the error itself
  | 'empty' // an answer with nothing in it
  | 'partial' // what was done until then
  | 'review' // an answer that asks for a person
  | 'invalid' // an answer that says not valid, with the issues
  | 'without_media' // an answer that leaves the media out
  | 'existing' // the answer that was given the first time
  | 'cached' // the last known copy, marked as stale; needs a cache, and no `recover`
  | 'warn' // an answer that carries a warning

export type ErrorRow = Recovery & {
  /** The status where it is answered over HTTP. */
  readonly http: number
  readonly ending: Ending
  /** A person is told. */
  readonly escalate?: true
  /** What is counted each time. */
  readonly counts?: 'rejections'
  /** What the caller must bring before asking again. */
  readonly needs?: 'fresh_version' | 'new_approval' | 'same_key'
  readonly words: string
}

/** A whole row, the part that differs from the usual, or only the words. */
export type ErrorOption = string | (Partial<ErrorRow> & Pick<ErrorRow, 'words'>)

const refuse = { retryable: false, retries: 0, ending: 'refuse' } as const
const retry = { retryable: true, retries: LIMITS.skillRetries, ending: 'refuse' } as const
const later = { retryable: true, retries: 0, ending: 'refuse' } as const

// biome-ignore format: a table is read by its columns
/** What any skill may end in: what the runner itself says, and what skills have in common. */
export const COMMON_ROWS = {
  INVALID_INPUT:        { http: 400, ...refuse, words: 'The input does not match the schema of the skill. Each issue names the field.' },
  INPUT_TOO_LARGE:      { http: 413, ...refuse, words: 'The input is larger than the limit. Send less, or in parts.' },
  TIMEOUT:              { http: 504, ...retry,  words: 'There was no answer in time.' },
  RATE_LIMITED:         { http: 429, ...retry,  escalate: true, words: 'Too many requests in this time. Ask again after the time given.' },
  NETWORK_ERROR:        { http: 503, ...retry,  words: 'The network did not carry the request.' },
  PLATFORM_UNAVAILABLE: { http: 503, ...retry,  words: 'The platform does not answer.' },
  TX_FAILED:            { http: 502, ...retry,  escalate: true, words: 'The chain did not take the transaction.' },
  WALLET_ERROR:         { http: 500, ...retry,  retries: 2, escalate: true, words: 'The wallet could not be read.' },
  INSUFFICIENT_BALANCE: { http: 402, ...refuse, escalate: true, words: 'There is not enough money for it. Somebody must add funds first.' },
  AGENT_NOT_FOUND:      { http: 404, ...refuse, words: 'No agent is registered under this id.' },
  INVALID_PLATFORM:     { http: 400, ...refuse, words: 'The platform is not one that the skill knows.' },
  UNAVAILABLE:          { http: 503, ...later,  words: 'The service cannot answer right now; nothing was changed.' },
  TOO_EARLY:            { http: 425, ...later,  words: 'It is under way already. Ask again later with the same key.' },
  AGENT_UNAVAILABLE:    { http: 503, ...later,  words: 'The agent takes no work at the moment.' },
  UNAUTHENTICATED:      { http: 401, ...refuse, words: 'Who is asking could not be established. Sign the request or present a token.' },
  FORBIDDEN:            { http: 403, ...refuse, words: 'The caller may not do this.' },
  LIMIT_REACHED:        { http: 409, ...refuse, words: 'As many as are allowed exist already.' },
  PRICE_RISEN:          { http: 409, ...refuse, words: 'The price is higher than the one quoted.' },
  EXPIRED:              { http: 410, ...refuse, words: 'It was not used in time and is gone.' },
  NOT_FOUND:            { http: 404, ...refuse, words: 'What is asked about is not known here.' },
  SKILL_NOT_FOUND:      { http: 404, ...refuse, words: 'The agent does not offer this skill.' },
  VERSION_UNSUPPORTED:  { http: 400, ...refuse, words: 'This version is not run here. Use one of the versions listed.' },
  CONFLICT:             { http: 409, ...refuse, words: 'Something else was asked for under this key.' },
  DEADLINE_TOO_SOON:    { http: 422, ...refuse, words: 'The deadline cannot be met. Ask with a later one.' },
  CANCELLED:            { http: 409, ...refuse, words: 'The call was cancelled by whoever made it.' },
  OUTCOME_UNKNOWN:      { http: 504, ...later,  needs: 'same_key', words: 'It was begun, and nobody knows how it ended. Ask again with the same key; it is not done twice.' },
  INTERNAL_ERROR:       { http: 500, ...refuse, words: 'The skill failed in a way that is not its caller\'s doing.' },
} as const satisfies Record<string, ErrorRow>

export type CommonCode = keyof typeof COMMON_ROWS

/** What an option leaves out is as for an error that asking again does not cure. */
export function completeRow(option: ErrorOption): ErrorRow {
  if (typeof option === 'string') return { http: 422, ...refuse, words: option }
  const usual = option.retryable === true ? { http: 503, ...retry } : { http: 422, ...refuse }
  return { ...usual, ...option }
}
