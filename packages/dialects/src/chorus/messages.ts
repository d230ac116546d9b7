/** Every Chorus message by name: its schema as it is published, and how it is read. */
import { asItIs, checker } from '../check.ts'
import type { Messages } from '../messages.ts'
import * as decode from './decode.ts'
import * as wire from './schema.ts'

export const MESSAGES = {
  registration: { schema: wire.Registration, read: decode.readRegistration },
  registered: { schema: wire.Registered, read: asItIs(checker(wire.Registered)) },
  discovery: { schema: wire.Discovery, read: decode.readDiscovery },
  discovered: { schema: wire.Discovered, read: decode.readDiscovered },
  heartbeat: { schema: wire.Heartbeat, read: decode.readHeartbeat },
  'heartbeat-seen': {
    schema: wire.HeartbeatSeen,
    read: asItIs(checker(wire.HeartbeatSeen)),
  },
  'agent-entry': { schema: wire.AgentEntry, read: asItIs(checker(wire.AgentEntry)) },
  'skill-list': { schema: wire.SkillList, read: asItIs(checker(wire.SkillList)) },
  job: { schema: wire.Job, read: decode.readJob, quotes: true },
  'job-result': { schema: wire.JobResult, read: decode.readJobResult, quotes: true },
  transfer: { schema: wire.Transfer, read: decode.readTransfer },
  'transfer-done': { schema: wire.TransferDone, read: asItIs(checker(wire.TransferDone)) },
  'account-opening': { schema: wire.AccountOpening, read: decode.readAccountOpening },
  account: { schema: wire.Account, read: asItIs(checker(wire.Account)) },
  'reputation-report': { schema: wire.ReputationReport, read: decode.readReputationReport },
  reputation: { schema: wire.Reputation, read: asItIs(checker(wire.Reputation)) },
  'audit-query': { schema: wire.AuditQuery, read: decode.readAuditQuery },
  'audit-list': { schema: wire.AuditList, read: asItIs(checker(wire.AuditList)) },
  economy: { schema: wire.Economy, read: asItIs(checker(wire.Economy)) },
  health: { schema: wire.Health, read: asItIs(checker(wire.Health)) },
} satisfies Messages
