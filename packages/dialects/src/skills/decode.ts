/**
 * Skills → domain. Most of what the skills take and give is payload, and means what it says; here
 * is what touches the network: profiles, state updates, publications, wallets and call records.
 */

import type { Fault } from '@chimera/domain/agent/condition'
import type { RecordUpdate, WantedCondition } from '@chimera/domain/agent/record'
import type { Publication } from '@chimera/domain/approval'
import type {
  AgentId,
  ContentId,
  CorrelationId,
  Digest,
  IdempotencyKey,
  Instant,
} from '@chimera/domain/ids'
import { reader } from '../check.ts'
import { instantOf, readUuid } from '../wire.ts'
import type { CallRecord } from './call-record.ts'
import * as checks from './checks.ts'
import type { ContentPackage } from './content.ts'
import type {
  AgentProfile,
  AgentType,
  Pricing,
  ProfileCapability,
  ProfileStatus,
  SupportedPlatform,
} from './profile.ts'
import type * as wire from './schema.ts'
import { type Currency, DECIMALS, readUnits } from './units.ts'
import type { PublishPlatform, TrendPlatform } from './words.ts'

/** What somebody says an agent is. Its score and its condition are theirs, not ours (A4, P-2). */
export type ProfileObserved = {
  readonly type: 'profile_observed'
  readonly agent: AgentId
  readonly name: string
  readonly kind: AgentType
  readonly capabilities: readonly ProfileCapability[]
  readonly shows: WantedCondition['name']
  readonly takesWork: boolean
  readonly inMaintenance: boolean
  readonly pendingTasks: number
  /** Absent: not said. */
  readonly slotsTotal?: number
  readonly claimedScoreMicro: number
  readonly seenAt: Instant
  readonly lastExecutionAt?: Instant
  readonly wallet?: string
  readonly walletBalance?: number
  readonly pricing?: Pricing
  readonly platforms?: readonly SupportedPlatform[]
  readonly version: number
}

export type ProfileSought = { readonly type: 'read_profile'; readonly agent: AgentId }

export type RecordUpdateAsked = {
  readonly type: 'update_record'
  readonly agent: AgentId
  readonly update: RecordUpdate
}

export type PublishAsked = {
  readonly type: 'publish_content'
  readonly content: ContentId
  /** The package itself: its canonical bytes are what was approved. */
  readonly package: ContentPackage
  readonly platform: PublishPlatform
  readonly token: string
  readonly scheduledAt?: Instant
}

export type BalanceRead = {
  readonly type: 'balance_read'
  readonly wallet: string
  readonly currency: Currency
  /** Absent: there is no chain, and the money is pretended. */
  readonly network?: wire.Network
  readonly units: bigint
  readonly at: Instant
  /** A cached one, which authorises no debit. */
  readonly stale: boolean
}

export type DebitAsked = {
  readonly type: 'debit_wallet'
  readonly wallet: string
  readonly currency: Currency
  readonly network: wire.Network
  readonly units: bigint
  readonly description: string
  readonly key: IdempotencyKey
}

export type CallRecorded = {
  readonly skill: string
  /** As the caller is called: not always a uuid. */
  readonly agent: string
  readonly at: Instant
  readonly input: Digest
  readonly output?: Digest
  readonly durationMs: number
  /** Absent: it succeeded. */
  readonly code?: string
  readonly retries: number
  readonly correlation?: CorrelationId
}

/** An agent that somebody else declares to be in error is so until somebody says otherwise. */
export const DECLARED_FAULT = { code: 'DECLARED', lasting: 'permanent' } as const satisfies Omit<
  Fault,
  'message'
>

export const CONDITION_OF_STATUS = {
  active: 'accepting',
  busy: 'occupied',
  paused: 'paused',
  error: 'failed',
} as const satisfies Record<ProfileStatus, WantedCondition['name']>

/** A uniform view of `platform`, which is one value or a list (SK-6). */
export function platformsOf({
  platform,
}: Pick<wire.FetchTrendsInput, 'platform'>): readonly TrendPlatform[] {
  return typeof platform === 'string' ? [platform] : platform
}

/** A window such as `4h` or `1d`, which a schema has already let through. */
export function windowMs(timeWindow: string): number {
  const unitMs = timeWindow.endsWith('d') ? 86_400_000 : 3_600_000
  return Number(timeWindow.slice(0, -1)) * unitMs
}

export function decodeAgentProfile(profile: AgentProfile): ProfileObserved {
  return {
    type: 'profile_observed',
    agent: readUuid<AgentId>(profile.agent_id),
    name: profile.name,
    kind: profile.type,
    capabilities: profile.capabilities,
    shows: CONDITION_OF_STATUS[profile.status],
    takesWork: profile.availability === 'active' || profile.availability === 'busy',
    inMaintenance: profile.availability === 'maintenance',
    pendingTasks: profile.pending_tasks,
    claimedScoreMicro: Math.round(profile.reputation_score * 1_000_000),
    seenAt: instantOf(profile.last_heartbeat),
    version: profile.version,
    ...(profile.max_concurrent_tasks !== undefined && {
      slotsTotal: profile.max_concurrent_tasks,
    }),
    ...(profile.last_execution !== undefined && {
      lastExecutionAt: instantOf(profile.last_execution),
    }),
    ...(profile.wallet_address !== undefined && { wallet: walletOf(profile.wallet_address) }),
    ...(profile.wallet_balance !== undefined && { walletBalance: profile.wallet_balance }),
    ...(profile.pricing && { pricing: profile.pricing }),
    ...(profile.supported_platforms && { platforms: profile.supported_platforms }),
  }
}

export function decodeProfileSought(input: wire.GetAgentProfileInput): ProfileSought {
  return { type: 'read_profile', agent: readUuid<AgentId>(input.agent_id) }
}

/** Whether a reason is needed is for the lifecycle to say; a missing one is an empty one. */
export function decodeStateUpdate(input: wire.UpdateAgentStateInput): RecordUpdateAsked {
  const { state_updates: updates, expected_version: expectedVersion } = input
  return {
    type: 'update_record',
    agent: readUuid<AgentId>(input.agent_id),
    update: {
      ...(expectedVersion !== undefined && { expectedVersion }),
      ...(updates.status !== undefined && { condition: wantedOf(updates.status, updates.reason) }),
      ...(updates.pending_tasks !== undefined && { pendingTasks: updates.pending_tasks }),
      ...(updates.last_execution !== undefined && {
        lastExecutionAt: instantOf(updates.last_execution),
      }),
      ...(updates.wallet_balance !== undefined && { walletBalance: updates.wallet_balance }),
    },
  }
}

function wantedOf(status: ProfileStatus, reason = ''): WantedCondition {
  const name = CONDITION_OF_STATUS[status]
  return name === 'failed' ? { name, fault: { ...DECLARED_FAULT, message: reason } } : { name }
}

export function decodePublish(input: wire.PublishContentInput): PublishAsked {
  const { content, schedule_time: scheduled } = input
  return {
    type: 'publish_content',
    content: readUuid<ContentId>(content.content_id),
    package: content,
    platform: input.platform,
    token: input.approval_token,
    ...(scheduled !== undefined && scheduled !== null && { scheduledAt: instantOf(scheduled) }),
  }
}

/** What the approval must be for. `bytes` is the digest of the package's canonical bytes. */
export function publicationOf(asked: PublishAsked, bytes: Digest): Publication {
  const { content, platform, scheduledAt } = asked
  return { content, bytes, platform, ...(scheduledAt !== undefined && { scheduledAt }) }
}

export function decodeBalance(output: wire.FetchWalletBalanceOutput): BalanceRead {
  const { currency, network, balance, balance_units: units } = output
  return {
    type: 'balance_read',
    wallet: walletOf(output.wallet_address),
    currency,
    ...(network !== undefined && { network }),
    units: units === undefined ? unitsOf(String(balance), currency) : BigInt(units),
    at: instantOf(output.last_updated),
    stale: output.stale ?? false,
  }
}

export function decodeDebit(input: wire.DebitWalletInput): DebitAsked {
  const { currency, amount } = input
  return {
    type: 'debit_wallet',
    wallet: walletOf(input.wallet_address),
    currency,
    network: input.network ?? 'base',
    units: unitsOf(amount, currency),
    description: input.tx_description,
    key: readUuid<IdempotencyKey>(input.idempotency_key),
  }
}

export function decodeCall(record: CallRecord): CallRecorded {
  return {
    skill: record.skill_name,
    agent: record.agent_id,
    at: instantOf(record.timestamp),
    input: record.input_hash as Digest,
    durationMs: record.duration_ms,
    retries: record.retry_count,
    ...(record.output_hash !== null && { output: record.output_hash as Digest }),
    ...(record.error_code !== null && { code: record.error_code }),
    ...(record.trace_id !== undefined && { correlation: record.trace_id as CorrelationId }),
  }
}

export const readAgentProfile = reader(checks.checkAgentProfile, decodeAgentProfile)
export const readProfileSought = reader(checks.checkGetAgentProfileInput, decodeProfileSought)
export const readProfileAnswer = reader(checks.checkGetAgentProfileOutput, decodeAgentProfile)
export const readStateUpdate = reader(checks.checkUpdateAgentStateInput, decodeStateUpdate)
export const readPublish = reader(checks.checkPublishContentInput, decodePublish)
export const readBalance = reader(checks.checkFetchWalletBalanceOutput, decodeBalance)
export const readDebit = reader(checks.checkDebitWalletInput, decodeDebit)
export const readCall = reader(checks.checkCallRecord, decodeCall)
export const readRegistration = reader(
  checks.checkRegisterOpenclawProfileInput,
  ({ agent_profile }) => decodeAgentProfile(agent_profile),
)

/** Case carries a checksum and no meaning: the same address in another case is the same wallet. */
const walletOf = (address: string): string => address.toLowerCase()

/** For sums that a check has already let through. */
const unitsOf = (amount: number | string, currency: Currency): bigint =>
  readUnits(amount, DECIMALS[currency]) ?? 0n
