/**
 * What is thrown here: the broker not answering, or a caller that asks for more than the bus holds.
 *
 *   F1  Branch on `code`, never on the text.
 *   F2  `message` is fit for anybody's eyes. Addresses, subjects and causes are in `detail`, for
 *       the operator. A credential is in neither.
 */
// biome-ignore format: a table is read by its columns
const SENTENCES = {
  address_malformed:  'The address of the broker is not one that is understood here.',
  credentials_broken: 'The credentials for the broker cannot be read.',
  key_malformed:      'A key for the broker is damaged or of another kind.',
  subject_malformed:  'A subject is words of letters, digits, "_" and "-", with dots between.',
  subject_forbidden:  'The broker does not let this client use the subject.',
  header_malformed:   'A header is printable ASCII of bounded length.',
  message_too_large:  'The message is larger than the bus carries.',
  plan_malformed:     'The plan of a stream or a bucket cannot be kept to.',
  broker_away:        'The broker does not answer.',
  broker_lacking:     'The broker lacks something that is needed here.',
  buffer_full:        'Too much waits for the broker already.',
  subscriptions_full: 'There are too many subscriptions.',
  subscriber_slow:    'The subscriber was too slow and has been cut off.',
  requests_full:      'Too many requests wait for an answer.',
  request_timeout:    'Nobody answered in time.',
  nobody_listens:     'Nobody listens to this subject.',
  answer_lost:        'The broker went away before the answer came: it may have been dealt with.',
  stream_unknown:     'No stream keeps this subject, or none has this name.',
  stream_refused:     'The stream did not take the message.',
  outcome_unknown:    'The broker stopped answering while it stored: it may have done so.',
  bucket_unknown:     'There is no bucket of this name.',
  bucket_full:        'The bucket holds as much as it may.',
  bus_closed:         'The bus was closed.',
} as const

export type FailureCode = keyof typeof SENTENCES

export class Failure extends Error {
  readonly code: FailureCode
  /** For the operator's log only. */
  readonly detail: string

  constructor(code: FailureCode, detail: string, { cause }: { readonly cause?: unknown } = {}) {
    super(SENTENCES[code], cause === undefined ? {} : { cause })
    this.name = 'Failure'
    this.code = code
    this.detail = detail
  }
}

export function hasCode(error: unknown, ...codes: readonly FailureCode[]): error is Failure {
  return error instanceof Failure && codes.includes(error.code)
}

/** What to tell the operator of something that was thrown elsewhere. */
export function reasonOf(error: unknown): string {
  if (error instanceof Failure) return `${error.code}: ${error.detail}`
  return error instanceof Error && error.message !== '' ? error.message : String(error)
}
