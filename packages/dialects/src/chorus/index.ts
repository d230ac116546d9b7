/** Chorus v0.1: registry, discovery, jobs, credits. */
export * from './decode.ts'
export * from './encode.ts'
export { MESSAGES } from './messages.ts'
export * from './place.ts'
export * from './refusals.ts'
export * as schema from './schema.ts'
export * from './why.ts'
