/** Every message of the status feed by name: its schema as it is published, and how it is read. */
import { asItIs, checker } from '../check.ts'
import type { Messages } from '../messages.ts'
import * as decode from './decode.ts'
import * as wire from './schema.ts'

export const MESSAGES = {
  status: { schema: wire.Status, read: decode.readStatus },
  accepted: { schema: wire.Accepted, read: decode.readAccepted },
  'feed-state': { schema: wire.FeedState, read: decode.readFeedState },
  error: {
    schema: wire.ErrorAnswer,
    read: asItIs(checker(wire.ErrorAnswer)),
  },
} satisfies Messages
