/** Our own language, under `/v1`: what an operator and a hirer need and no document defines. */
export { MESSAGES } from './messages.ts'
export { encodeRefusal } from './refusals.ts'
export * from './tokens.ts'
