/**
 * What a dialect lists of itself: each message by name, with its published schema and its reader.
 * The schema files, the conformance vectors and the hub's `/schemas` all go by these names.
 */
import type { TSchema } from 'typebox'
import type { Malformed } from './check.ts'

export type Read = (value: unknown) => { readonly ok: true; readonly value: unknown } | Malformed
export type Messages = Readonly<Record<string, { readonly schema: TSchema; readonly read: Read }>>
