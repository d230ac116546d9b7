/**
 * What is thrown here: the world not answering (a key file), or a caller that hands over what
 * cannot be signed. What a stranger sends is never thrown about; it is refused, as a value.
 *
 *   F1  Branch on `code`, never on the text.
 *   F2  `message` is fit for anybody's eyes. Paths and causes are in `detail`, for the operator.
 */
// biome-ignore format: a table is read by its columns
const SENTENCES = {
  value_not_json:        'The value is not plain JSON, so it has no canonical form.',
  key_malformed:         'The key is not an Ed25519 key in the form that is expected.',
  key_file_missing:      'There is no key file.',
  key_file_exists:       'A key file is already there; it is never overwritten.',
  key_file_exposed:      'The key file can be read or written by others. Give it mode 0600.',
  key_directory_exposed: 'Others can write the directory of the key file. Give it mode 0700.',
  key_file_malformed:    'The key file does not hold an Ed25519 private key as a JWK.',
  key_file_unreadable:   'The key file could not be read.',
  key_file_unwritable:   'The key file could not be written.',
  component_missing:     'A part of the message that was to be signed is missing.',
  scope_malformed:       'A scope is a word of visible ASCII, without quotes and backslashes.',
  ttl_invalid:           'The lifetime asked for is not above zero and within the limit.',
} as const

export type FailureCode = keyof typeof SENTENCES

export class Failure extends Error {
  readonly code: FailureCode
  /** For the operator's log only. */
  readonly detail: string

  constructor(code: FailureCode, detail: string, cause?: unknown) {
    super(SENTENCES[code], cause === undefined ? {} : { cause })
    this.name = 'Failure'
    this.code = code
    this.detail = detail
  }
}
