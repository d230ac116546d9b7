/**
 * Why an address was not asked, or did not answer.
 *
 *   F1  Branch on `code`. `detail` is for the operator's log only: it names hosts and addresses.
 *   F2  Inside this folder a failure is thrown; it leaves as a value, so that the world not
 *       answering is never an exception to whoever asked.
 */
// biome-ignore format: a table is read by its columns
const SENTENCES = {
  refused_address:    'The address may not be dialled from here.',
  timeout:            'There was no answer in time.',
  too_large:          'The answer is larger than the limit.',
  too_many_redirects: 'The answer was one redirect too many.',
  network:            'The address could not be reached, or broke off.',
  tls:                'A secure connection could not be made.',
  cancelled:          'The request was given up before it was answered.',
} as const

export type GuardFailureCode = keyof typeof SENTENCES

export type Failed = {
  readonly ok: false
  readonly failure: { readonly code: GuardFailureCode; readonly detail: string }
}

export class GuardFailure extends Error {
  readonly code: GuardFailureCode
  readonly detail: string

  constructor(code: GuardFailureCode, detail: string, cause?: unknown) {
    super(SENTENCES[code], cause === undefined ? {} : { cause })
    this.name = 'GuardFailure'
    this.code = code
    this.detail = detail
  }
}

const TLS_CODE = /^ERR_(?:SSL|TLS)_|CERT|^EPROTO$/

/** What Node and its HTTP client throw, in our words. */
export function toFailed(error: unknown): Failed {
  if (error instanceof GuardFailure) {
    return { ok: false, failure: { code: error.code, detail: error.detail } }
  }
  const code = codeOf(error)
  const message = error instanceof Error ? error.message : String(error)
  return { ok: false, failure: { code: judge(code), detail: `${code}: ${message}` } }
}

function judge(code: string): GuardFailureCode {
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return 'too_large'
  return TLS_CODE.test(code) ? 'tls' : 'network'
}

export function codeOf(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : ''
  return typeof code === 'string' && code !== '' ? code : 'unknown'
}
