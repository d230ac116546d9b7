/** The status feed, `openclaw-status.v1`. */
export * from './decode.ts'
export * from './encode.ts'
export { MESSAGES } from './messages.ts'
export * from './notes.ts'
export * from './refusals.ts'
export * as schema from './schema.ts'
