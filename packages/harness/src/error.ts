/** What a harness cannot do, and what to do about it. */
export type HarnessCode = 'options_invalid' | 'too_long' | 'not_running' | 'hub_refused' | 'closed'

export class HarnessError extends Error {
  override readonly name = 'HarnessError'
  readonly code: HarnessCode

  constructor(code: HarnessCode, message: string) {
    super(message)
    this.code = code
  }
}
