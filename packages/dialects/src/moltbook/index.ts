/** MoltBook availability: presence, capabilities, reservations, keys, and the directory. */
export * from './decode.ts'
export * from './directory.ts'
export * from './encode.ts'
export { MESSAGES } from './messages.ts'
export * from './refusals.ts'
export * as schema from './schema.ts'
export * from './words.ts'
