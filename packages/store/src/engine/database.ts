/**
 * The port to the database: one SQL, whichever engine answers.
 *
 *   D1  Outside a transaction each query commits by itself. Inside, all of it or nothing.
 *   D2  Everything runs as the application's role, which may only append to the trail; what the
 *       owner alone may do (migrating, dropping old partitions) is asked for by name.
 *   D3  Whole numbers come back as numbers, JSON as values. Instants are whole numbers of ms.
 *   D4  A transaction that is told of its failure has not happened, but for `outcome_unknown`.
 */
export type Param = string | number | boolean | null

export type Row = Readonly<Record<string, unknown>>

export type Queries = {
  /**
   * With parameters one prepared statement; without, a script of one or more, which answers with
   * the rows of its last.
   */
  readonly query: <R extends Row = Row>(
    sql: string,
    params?: readonly Param[],
  ) => Promise<readonly R[]>
}

export type Role = 'application' | 'owner'

export type TransactionOptions = {
  readonly role?: Role
  /** One view of all tables from the first query on, and no writing. For backups. */
  readonly frozen?: boolean
}

export type Transaction = <T>(
  work: (tx: Queries) => Promise<T>,
  options?: TransactionOptions,
) => Promise<T>

export type Database = Queries & {
  readonly transaction: Transaction
  /** Nobody else is there: transactions run one after the other, all of them from here. */
  readonly alone?: true
  /** Waits for what is under way. Later calls fail. */
  readonly close: () => Promise<void>
}

/** The role that the first migration makes. It belongs to the whole server, hence the prefix. */
export const APPLICATION_ROLE = 'chimera_app'

/** Takes the role if it is there and may be taken; answers whether it was. */
export const TAKE_ROLE = `
  SELECT set_config('role', rolname, false) IS NOT NULL AS taken
  FROM pg_roles WHERE rolname = '${APPLICATION_ROLE}' AND pg_has_role(oid, 'MEMBER')`

export function beginning({ role = 'application', frozen = false }: TransactionOptions): string {
  const begin = frozen ? 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' : 'BEGIN'
  return role === 'owner' ? `${begin}; SET LOCAL ROLE NONE` : begin
}

/** Names the keys of advisory locks, which are shared by everything in one database. */
export const ADVISORY = {
  migrate: 7_426_001,
  seal: 7_426_002,
  partition: 7_426_003,
  /** Of two numbers: this one, and the hash of the owner's name. */
  owner: 7_426_004,
  /** Of two numbers: this one, and the hash of the instance's id. */
  instance: 7_426_005,
  told: 7_426_005,
  /** Of the making and revoking of tokens. */
  tokens: 7_426_008,
  /** Of two numbers: this one, and the hash of the credential's name. */
  credential: 7_426_009,
} as const

/** A connection that ended by itself, or never began, rather than a statement that was wrong. */
export function isDisconnection(sqlState: string): boolean {
  return /^(08...|57P0[1-5]|53300)$/.test(sqlState)
}
