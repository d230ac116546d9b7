/** Every message under `/v1` by name: its schema as it is published, and how it is read. */
import { asItIs, checker } from '../check.ts'
import type { Messages } from '../messages.ts'
import { ErrorAnswer } from './refusals.ts'
import { TOKEN_MESSAGES } from './tokens.ts'

export const MESSAGES = {
  ...TOKEN_MESSAGES,
  error: { schema: ErrorAnswer, read: asItIs(checker(ErrorAnswer)) },
} satisfies Messages
