/**
 * Every error that a skill can end in, and what its Recovery cell in the document asks for, as data
 * that the runner follows (SK-2).
 *
 *   E1  `retryable` tells the caller whether the same request may succeed later; `retries` is how
 *       often the runner itself tries again first. Nothing is retried that is not retryable.
 *   E2  A code has one HTTP status, whichever skill says it.
 *   E3  A cell that says "retry" without a number means the default, 3.
 *   E4  The words are for the caller and name nothing of the inside.
 */

/** What is answered when the tries are used up. */
export type Ending =
  | 'refuse' // the error itself
  | 'empty' // an answer with nothing in it
  | 'partial' // what was done until then
  | 'review' // an answer that asks for a person
  | 'invalid' // an answer that says not valid, with the issues
  | 'without_media' // an answer that leaves the media out
  | 'existing' // the answer that was given the first time
  | 'cached' // the last known copy, marked as stale; the error where there is none
  | 'warn' // an answer that carries a warning

export type ErrorRow = {
  readonly http: number
  readonly retryable: boolean
  readonly retries: number
  readonly ending: Ending
  /** From this retry on, another source or another model is asked. */
  readonly fallback?: { readonly to: 'source' | 'model'; readonly fromRetry: number }
  /** A person is told. */
  readonly escalate?: true
  /** What is counted each time. */
  readonly counts?: 'rejections'
  /** What the caller must bring before asking again. */
  readonly needs?: 'fresh_version' | 'new_approval' | 'same_key'
  readonly words: string
}
type Table = Readonly<Record<string, ErrorRow>>

/** The document's default. */
export const MOST_RETRIES = 3

const refuse = { retryable: false, retries: 0, ending: 'refuse' } as const
const retry = { retryable: true, retries: MOST_RETRIES, ending: 'refuse' } as const
const later = { retryable: true, retries: 0, ending: 'refuse' } as const

// biome-ignore format: a table is read by its columns
/** What any skill may end in: the document's general lists, and what the network itself refuses. */
export const COMMON_ERRORS = {
  INVALID_INPUT:        { http: 400, ...refuse, words: 'The input does not match the schema of the skill. Each issue names the field.' },
  INPUT_TOO_LARGE:      { http: 413, ...refuse, words: 'The input is larger than the limit. Send less, or in parts.' },
  TIMEOUT:              { http: 504, ...retry,  words: 'There was no answer in time.' },
  RATE_LIMITED:         { http: 429, ...retry,  escalate: true, words: 'Too many requests in this time. Ask again after the time given.' },
  NETWORK_ERROR:        { http: 503, ...retry,  words: 'The network did not carry the request.' },
  AGENT_NOT_FOUND:      { http: 404, ...refuse, words: 'No agent is registered under this id.' },
  INSUFFICIENT_BALANCE: { http: 402, ...refuse, escalate: true, words: 'There is not enough money for it. Somebody must add funds first.' },
  UNAVAILABLE:          { http: 503, ...later,  words: 'The service cannot answer right now; nothing was changed.' },
  AGENT_UNAVAILABLE:    { http: 503, ...later,  words: 'The agent takes no work at the moment.' },
  TOO_EARLY:            { http: 425, ...later,  words: 'Its time has not come yet.' },
  UNAUTHENTICATED:      { http: 401, ...refuse, words: 'Who is asking could not be established. Sign the request or present a token.' },
  FORBIDDEN:            { http: 403, ...refuse, words: 'The caller may not do this.' },
  NOT_FOUND:            { http: 404, ...refuse, words: 'What is asked about is not known here.' },
  SKILL_NOT_FOUND:      { http: 404, ...refuse, words: 'The agent does not offer this skill.' },
  VERSION_UNSUPPORTED:  { http: 400, ...refuse, words: 'This version is not run here. Use one of the versions listed.' },
  CONFLICT:             { http: 409, ...refuse, words: 'It contradicts what is already so.' },
  LIMIT_REACHED:        { http: 409, ...refuse, words: 'As many as are allowed exist already.' },
  PRICE_RISEN:          { http: 409, ...refuse, words: 'The price is higher than the one quoted.' },
  DEADLINE_TOO_SOON:    { http: 422, ...refuse, words: 'The deadline cannot be met. Ask with a later one.' },
  EXPIRED:              { http: 410, ...refuse, words: 'It was not used in time and is gone.' },
  CANCELLED:            { http: 409, ...refuse, words: 'The call was cancelled by whoever made it.' },
  OUTCOME_UNKNOWN:      { http: 504, ...later,  needs: 'same_key', words: 'It was begun, and nobody knows how it ended. Ask again with the same key; it is not done twice.' },
  INTERNAL_ERROR:       { http: 500, ...refuse, words: 'The skill failed in a way that is not its caller\'s doing.' },
} as const satisfies Table

// biome-ignore format: a table is read by its columns
export const SKILL_ERRORS = {
  fetch_trends: {
    PLATFORM_UNAVAILABLE: { http: 503, ...retry,  ending: 'cached', fallback: { to: 'source', fromRetry: 1 }, words: 'The platform does not answer, and neither does its fallback.' },
    RATE_LIMITED:         { http: 429, ...retry,  ending: 'cached', escalate: true, words: 'The platform takes no more requests for now.' },
    INVALID_PLATFORM:     { http: 400, ...refuse, words: 'The platform is not one that trends are fetched from.' },
    VALIDATION_FAILED:    { http: 422, ...refuse, ending: 'empty', words: 'The platform answered with something that is not a list of trends.' },
    TIMEOUT:              { http: 504, ...retry,  ending: 'cached', fallback: { to: 'source', fromRetry: MOST_RETRIES }, words: 'The platform did not answer in time, and neither did its fallback.' },
    NETWORK_ERROR:        { http: 503, ...retry,  ending: 'cached', words: 'The platform could not be reached.' },
  },
  semantic_filter: {
    FILTER_TIMEOUT:       { http: 504, ...later,  ending: 'partial', words: 'Time ran out before all trends were looked at.' },
    INVALID_INPUT:        { http: 400, ...refuse, words: 'The input does not match the schema of the skill. Each issue names the field.' },
    LLM_ERROR:            { http: 503, ...retry,  fallback: { to: 'model', fromRetry: 1 }, words: 'The model gave no usable answer, and neither did its fallback.' },
    INVALID_GOALS:        { http: 422, ...refuse, words: 'Goals are one to ten texts that are not empty.' },
  },
  generate_content: {
    GENERATION_TIMEOUT:      { http: 504, ...later,  ending: 'partial', words: 'Time ran out before the content was complete.' },
    INVALID_PERSONA:         { http: 400, ...refuse, words: 'The persona does not match its schema. Each issue names the field.' },
    MEDIA_GENERATION_FAILED: { http: 502, ...retry,  retries: 2, ending: 'without_media', words: 'The pictures or videos could not be made.' },
    SAFETY_VIOLATION:        { http: 422, ...refuse, counts: 'rejections', words: 'What was written is not safe to show, also at the second try.' },
    LLM_ERROR:               { http: 503, ...retry,  retries: 2, fallback: { to: 'model', fromRetry: 1 }, words: 'The model gave no usable answer, and neither did its fallback.' },
  },
  validate_content: {
    VALIDATION_ERROR:     { http: 422, ...refuse, ending: 'invalid', words: 'The content breaks a rule. Each issue names it.' },
    SAFETY_CHECK_TIMEOUT: { http: 504, ...later,  ending: 'review', words: 'A check did not end in time, so a person must look.' },
    INVALID_CONTENT:      { http: 400, ...refuse, words: 'The content does not match its schema. Each issue names the field.' },
  },
  publish_content: {
    PUBLISH_FAILED:    { http: 502, ...retry,  words: 'The platform did not take the post.' },
    INVALID_TOKEN:     { http: 401, ...refuse, needs: 'new_approval', words: 'The approval is not valid for this content, platform and time.' },
    TOKEN_EXPIRED:     { http: 401, ...refuse, needs: 'new_approval', words: 'The approval has expired. Ask for a new one.' },
    PLATFORM_ERROR:    { http: 503, ...retry,  words: 'The platform is not working. Another one needs its own approval.' },
    DUPLICATE_CONTENT: { http: 409, ...refuse, ending: 'existing', words: 'This content is on this platform already.' },
  },
  get_agent_profile: {
    AGENT_NOT_FOUND: { http: 404, ...refuse, words: 'No agent is registered under this id.' },
    UNAVAILABLE:     { http: 503, ...later,  ending: 'cached', words: 'The profile cannot be read right now.' },
  },
  update_agent_state: {
    CONCURRENCY_ERROR:        { http: 409, ...refuse, needs: 'fresh_version', words: 'Somebody changed the profile in the meantime. Read it again and ask with the new version.' },
    AGENT_NOT_FOUND:          { http: 404, ...refuse, words: 'No agent is registered under this id.' },
    INVALID_STATE_TRANSITION: { http: 422, ...refuse, words: 'The agent cannot go from its present state to the one asked for, or not without a reason.' },
  },
  fetch_wallet_balance: {
    WALLET_ERROR:    { http: 500, ...retry,  retries: 2, escalate: true, words: 'The wallet could not be read.' },
    NETWORK_ERROR:   { http: 503, ...retry,  ending: 'cached', words: 'The chain could not be reached. No debit is made on an old balance.' },
    INVALID_ADDRESS: { http: 400, ...refuse, words: 'This is not the address of a wallet.' },
  },
  debit_wallet: {
    INSUFFICIENT_BALANCE: { http: 402, ...refuse, escalate: true, words: 'The wallet has not enough for it; nothing was taken. Somebody must add funds first.' },
    TX_FAILED:            { http: 502, ...retry,  escalate: true, needs: 'same_key', words: 'The chain did not take the transaction. Ask again with the same idempotency key.' },
    INVALID_ADDRESS:      { http: 400, ...refuse, words: 'This is not the address of a wallet.' },
    NETWORK_ERROR:        { http: 503, ...retry,  needs: 'same_key', words: 'The chain could not be reached. Ask again with the same idempotency key.' },
    TIMEOUT:              { http: 504, ...retry,  needs: 'same_key', words: 'The transaction is not confirmed yet, and may still be. Ask again with the same idempotency key.' },
  },
  register_openclaw_profile: {
    REGISTRATION_FAILED: { http: 502, ...retry,  ending: 'warn', words: 'The network did not take the profile.' },
    INVALID_PROFILE:     { http: 422, ...refuse, words: 'The profile does not match its schema. Each issue names the field.' },
    NETWORK_ERROR:       { http: 503, ...retry,  ending: 'warn', words: 'The network could not be reached.' },
  },
} as const satisfies Record<string, Table>

export type SkillId = keyof typeof SKILL_ERRORS
export type CommonCode = keyof typeof COMMON_ERRORS
type KeysOf<Each> = Each extends unknown ? keyof Each : never
/** The codes of one skill, or of any. */
export type SkillCode<Skill extends SkillId = SkillId> =
  | CommonCode
  | KeysOf<(typeof SKILL_ERRORS)[Skill]>

/** A skill's own row where it has one, else the row that all skills share. */
export function errorRow<Skill extends SkillId>(skill: Skill, code: SkillCode<Skill>): ErrorRow {
  const own: Table = SKILL_ERRORS[skill]
  const shared: Table = COMMON_ERRORS
  return own[code] ?? shared[code] ?? COMMON_ERRORS.INTERNAL_ERROR
}

/**
 * The wait before a retry, the first being 1: 1, 2, 4 s and up to a second more by chance, which
 * runs from 0 up to, but not including, 1.
 */
export function retryWaitMs(retry: number, chance: number): number {
  return 1_000 * 2 ** (retry - 1) + Math.floor(1_000 * chance)
}
