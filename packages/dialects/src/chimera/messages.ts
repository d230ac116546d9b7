/** Every message under `/v1` by name: its schema as it is published, and how it is read. */
import { asItIs, checker } from '../check.ts'
import type { Messages } from '../messages.ts'
import { AGENT_MESSAGES } from './agents.ts'
import { ALERT_MESSAGES } from './alerts.ts'
import { APPROVAL_MESSAGES } from './approvals.ts'
import { BOOK_MESSAGES } from './books.ts'
import { CAMPAIGN_MESSAGES } from './campaigns.ts'
import { CONTROL_MESSAGES } from './control.ts'
import { FACT_MESSAGES } from './facts.ts'
import { GRANT_MESSAGES } from './grants.ts'
import { HOLD_MESSAGES } from './holds.ts'
import { HUB_MESSAGES } from './hub.ts'
import { KEY_MESSAGES } from './keys.ts'
import { LETTER_MESSAGES } from './letters.ts'
import { LIVE_MESSAGES } from './live.ts'
import { OFFER_MESSAGES } from './offers.ts'
import { PASS_MESSAGES } from './passes.ts'
import { POST_MESSAGES } from './posts.ts'
import { PRESENCE_MESSAGES } from './presence.ts'
import { PROFILE_MESSAGES } from './profiles.ts'
import { PROVIDER_MESSAGES } from './providers.ts'
import { ErrorAnswer } from './refusals.ts'
import { RESULT_MESSAGES } from './results.ts'
import { REVIEW_MESSAGES } from './reviews.ts'
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
  ...FACT_MESSAGES,
  ...AGENT_MESSAGES,
  ...PRESENCE_MESSAGES,
  ...BOOK_MESSAGES,
  ...PROVIDER_MESSAGES,
  ...HUB_MESSAGES,
  ...SERVING_MESSAGES,
  ...OFFER_MESSAGES,
  ...RESULT_MESSAGES,
  ...CAMPAIGN_MESSAGES,
  ...REVIEW_MESSAGES,
  ...APPROVAL_MESSAGES,
  ...POST_MESSAGES,
  error: { schema: ErrorAnswer, read: asItIs(checker(ErrorAnswer)) },
} satisfies Messages
