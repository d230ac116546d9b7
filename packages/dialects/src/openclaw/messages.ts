/** Every OpenClaw message by name: its schema as it is published, and how it is read. */
import type { Messages } from '../messages.ts'
import * as decode from './decode.ts'
import { readIdentity } from './identity.ts'
import { readReputationUpdate } from './reputation.ts'
import { RESULT_MESSAGES } from './results.ts'
import * as wire from './schema.ts'

export const MESSAGES = {
  identity: { schema: wire.Identity, read: readIdentity },
  'status-update': { schema: wire.StatusUpdate, read: decode.readStatusUpdate },
  'reputation-update': { schema: wire.ReputationUpdate, read: readReputationUpdate },
  'collaboration-request': {
    schema: wire.CollaborationRequest,
    read: decode.readRequest,
    quotes: true,
  },
  'collaboration-cancel': { schema: wire.CollaborationCancel, read: decode.readCancel },
  'collaboration-response': {
    schema: wire.CollaborationResponse,
    read: decode.readResponse,
    quotes: true,
  },
  'collaboration-result': {
    schema: wire.CollaborationResult,
    read: decode.readResult,
    quotes: true,
  },
  ...RESULT_MESSAGES,
  error: { schema: wire.ProtocolError, read: decode.readProtocolError },
} satisfies Messages
