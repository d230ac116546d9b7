/** Every MoltBook message by name: its schema as it is published, and how it is read. */
import { asItIs, checker } from '../check.ts'
import type { Messages } from '../messages.ts'
import * as decode from './decode.ts'
import * as directory from './directory.ts'
import * as wire from './schema.ts'

export const MESSAGES = {
  presence: { schema: wire.Presence, read: decode.readPresence, quotes: true },
  capability: { schema: wire.Capability, read: decode.readCapability, quotes: true },
  'reserve-offer': { schema: wire.ReserveOffer, read: decode.readReserveOffer, quotes: true },
  'reserve-ack': { schema: wire.ReserveAck, read: decode.readReserveAck, quotes: true },
  release: { schema: wire.Release, read: decode.readRelease, quotes: true },
  'key-rotation': { schema: wire.KeyRotation, read: decode.readKeyRotation, quotes: true },
  'directory-query': { schema: wire.DirectoryQuery, read: directory.readDirectoryQuery },
  directory: { schema: wire.Directory, read: directory.readDirectory },
  'presence-events-query': { schema: wire.EventsQuery, read: directory.readEventsQuery },
  'presence-events': { schema: wire.Events, read: directory.readEvents, quotes: true },
  error: {
    schema: wire.ErrorAnswer,
    read: asItIs(checker(wire.ErrorAnswer)),
  },
} satisfies Messages
