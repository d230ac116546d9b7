/**
 * What is thrown here: the database not answering, or answering what cannot be gone on with. What a
 * caller asks for and may not have is never thrown about; it is refused, as a value.
 *
 *   F1  Branch on `code`, never on the text.
 *   F2  `message` is fit for anybody's eyes. Addresses, paths and causes are in `detail`, for the
 *       operator.
 */
// biome-ignore format: a table is read by its columns
const SENTENCES = {
  address_malformed:    'The address of the database is not one that is understood here.',
  directory_locked:     'Another process has this data directory open.',
  directory_unusable:   'The data directory cannot be read or written.',
  database_unreachable: 'The database does not answer.',
  database_busy:        'Too many calls wait for the database.',
  database_closed:      'The database was closed.',
  statement_failed:     'The database refused a statement.',
  outcome_unknown:      'The database stopped answering while it committed: it may have done so.',
  schema_missing:       'The database has no tables, or not all. Migrate it first.',
  schema_newer:         'The database was migrated by a newer version that this one cannot work with.',
  fact_unstorable:      'A fact has no canonical form, so it cannot be sealed.',
  retention_too_short:  'Presence events are kept for at least 24 hours.',
  backup_malformed:     'The backup is damaged, incomplete or not a backup.',
  restore_refused:      'A backup is restored only into an empty database.',
} as const

export type FailureCode = keyof typeof SENTENCES

export class Failure extends Error {
  readonly code: FailureCode
  /** For the operator's log only. */
  readonly detail: string
  /** The five characters by which PostgreSQL names the reason, where it gave one. */
  readonly sqlState: string | undefined

  constructor(
    code: FailureCode,
    detail: string,
    { cause, sqlState }: { readonly cause?: unknown; readonly sqlState?: string } = {},
  ) {
    super(SENTENCES[code], cause === undefined ? {} : { cause })
    this.name = 'Failure'
    this.code = code
    this.detail = detail
    this.sqlState = sqlState
  }
}

export function hasCode(error: unknown, ...codes: readonly FailureCode[]): error is Failure {
  return error instanceof Failure && codes.includes(error.code)
}
