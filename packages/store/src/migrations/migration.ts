/**
 * What a migration is: one step of the schema, numbered, never changed once released.
 *
 * A step is `breaking` when a program that knows only the steps before it would read or write
 * wrongly after it. Adding a table or a column that may be absent is not.
 */
export type Migration = {
  readonly version: number
  readonly name: string
  readonly breaking: boolean
  readonly sql: string
}
