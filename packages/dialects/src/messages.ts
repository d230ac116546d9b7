/**
 * What a dialect lists of itself: each message by name, with its published schema and its reader.
 * The schema files, the conformance vectors and the hub's `/schemas` all go by these names.
 */
import type { TSchema } from 'typebox'
import type { Malformed } from './check.ts'

export type Read = (value: unknown) => { readonly ok: true; readonly value: unknown } | Malformed
export type MessageEntry = {
  readonly schema: TSchema
  readonly read: Read
  /** Names of the fields whose task is to carry a token; the guards let those through. */
  readonly carries?: readonly string[]
  /** Hands on what others wrote or signed, so that nothing in it is ours to edit. */
  readonly quotes?: boolean
}
export type Messages = Readonly<Record<string, MessageEntry>>
