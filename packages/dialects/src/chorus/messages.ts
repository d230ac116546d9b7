/** Every Chorus message by name: its schema as it is published, and how it is read. */
import { checker, reader } from '../check.ts'
import type { Messages } from '../messages.ts'
import * as decode from './decode.ts'
import * as wire from './schema.ts'

/** For answers that are shown as they are: the meaning is the message. */
const asItIs = <Message>(message: Message): Message => message

export const MESSAGES = {
  registration: { schema: wire.Registration, read: decode.readRegistration },
  registered: { schema: wire.Registered, read: reader(checker(wire.Registered), asItIs) },
  discovery: { schema: wire.Discovery, read: decode.readDiscovery },
  discovered: { schema: wire.Discovered, read: decode.readDiscovered },
  heartbeat: { schema: wire.Heartbeat, read: decode.readHeartbeat },
  'heartbeat-seen': {
    schema: wire.HeartbeatSeen,
    read: reader(checker(wire.HeartbeatSeen), asItIs),
  },
  'agent-entry': { schema: wire.AgentEntry, read: reader(checker(wire.AgentEntry), asItIs) },
  'skill-list': { schema: wire.SkillList, read: reader(checker(wire.SkillList), asItIs) },
  job: { schema: wire.Job, read: decode.readJob },
  'job-result': { schema: wire.JobResult, read: decode.readJobResult },
  transfer: { schema: wire.Transfer, read: decode.readTransfer },
  'transfer-done': { schema: wire.TransferDone, read: reader(checker(wire.TransferDone), asItIs) },
  'account-opening': { schema: wire.AccountOpening, read: decode.readAccountOpening },
  account: { schema: wire.Account, read: reader(checker(wire.Account), asItIs) },
  'reputation-report': { schema: wire.ReputationReport, read: decode.readReputationReport },
  reputation: { schema: wire.Reputation, read: reader(checker(wire.Reputation), asItIs) },
  'audit-query': { schema: wire.AuditQuery, read: decode.readAuditQuery },
  'audit-list': { schema: wire.AuditList, read: reader(checker(wire.AuditList), asItIs) },
  economy: { schema: wire.Economy, read: reader(checker(wire.Economy), asItIs) },
  health: { schema: wire.Health, read: reader(checker(wire.Health), asItIs) },
} satisfies Messages
