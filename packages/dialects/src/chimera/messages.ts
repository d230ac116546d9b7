/** Every message under `/v1` by name: its schema as it is published, and how it is read. */
import { asItIs, checker } from '../check.ts'
import type { Messages } from '../messages.ts'
import { ALERT_MESSAGES } from './alerts.ts'
import { CONTROL_MESSAGES } from './control.ts'
import { GRANT_MESSAGES } from './grants.ts'
import { HOLD_MESSAGES } from './holds.ts'
import { KEY_MESSAGES } from './keys.ts'
import { LETTER_MESSAGES } from './letters.ts'
import { LIVE_MESSAGES } from './live.ts'
import { PASS_MESSAGES } from './passes.ts'
import { PROFILE_MESSAGES } from './profiles.ts'
import { ErrorAnswer } from './refusals.ts'
import { RESULT_MESSAGES } from './results.ts'
import { SERVING_MESSAGES } from './serving.ts'
import { TOKEN_MESSAGES } from './tokens.ts'
import { TRUST_MESSAGES } from './trust.ts'
import { WORK_MESSAGES } from './work.ts'

export const MESSAGES = {
  ...TOKEN_MESSAGES,
  ...PASS_MESSAGES,
  ...KEY_MESSAGES,
  ...HOLD_MESSAGES,
  ...PROFILE_MESSAGES,
  ...TRUST_MESSAGES,
  ...LETTER_MESSAGES,
  ...ALERT_MESSAGES,
  ...CONTROL_MESSAGES,
  ...GRANT_MESSAGES,
  ...WORK_MESSAGES,
  ...LIVE_MESSAGES,
  ...SERVING_MESSAGES,
  ...RESULT_MESSAGES,
  error: { schema: ErrorAnswer, read: asItIs(checker(ErrorAnswer)) },
} satisfies Messages
