/**
 * What an author may say of an agent, one by one, and what is wrong with it.
 *
 *   O1  Everything that is wrong is said at once, when the agent is created.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { LIMITS } from '@chimera/domain/limits'
import type { WorkAsked } from '@chimera/domain/work/work'
import type { Chance } from '@chimera/host/chance'
import type { Clock } from '@chimera/host/clock'
import type { Log, LogLevel } from '@chimera/host/log'
import type { Metrics } from '@chimera/host/metrics'
import type { KeyPair } from '@chimera/identity/keys'
import type { Answers } from '@chimera/skill/answers'
import type { Skill } from '@chimera/skill/contract'
import type { BusOption } from './bus/port.ts'
import { type FeedAuth, tlsFromFiles } from './voice/feed-door.ts'
import type { FeedSettings, VoicesHands } from './voice/voices.ts'
import type { Keep, Requester } from './work/keep.ts'

export type FeedOption = Omit<FeedSettings, 'auth'> & { readonly auth?: FeedAuth }

export type AgentOptions = {
  /** What it is called: `chimera-` and small letters, digits and hyphens, as OpenClaw has it. */
  readonly name: string
  /** Whose it is: who is paid for its work. */
  readonly owner: string
  /** The hub's address, such as `http://127.0.0.1:4600`. */
  readonly hub: string
  /** What it can do: one to a hundred. */
  readonly skills: readonly Skill[]
  /** The owner's token, with which the key is bound at a hub that is not open. */
  readonly token?: string | (() => string | undefined) | undefined
  /** The hub's public key: whose orders are obeyed. Without it nobody's are. */
  readonly hubKey?: string
  /**
   * `development`: callbacks on this machine are dialled, work is kept in memory. `production`:
   * only public addresses are dialled, and a `keep` that lasts has to be given. Default:
   * `development`.
   */
  readonly preset?: 'development' | 'production'
  /** Where the server listens. Default: a free port of this machine only. */
  readonly listen?: { readonly host?: string; readonly port?: number }
  /** Where others reach the server, if that is not where it listens: behind a proxy. */
  readonly publicUrl?: string
  /** Where key and id are kept. Default: `.chimera/<name>`; `false`: nowhere, for tests. */
  readonly directory?: string | false
  /** The agent's id, a uuid, where it has one already. Default: made on the first start. */
  readonly id?: string
  /**
   * The agent's key, where something else keeps it; with `directory: false` only. One that is
   * rotated in is the caller's to keep. Default: made on the first start.
   */
  readonly key?: KeyPair
  /** The version of the agent's own software, in three numbers. */
  readonly version?: string
  /** How much runs at once, at most 1000; more ends sooner, up to a full machine. Default: 16. */
  readonly slots?: number
  /** Asks a minute in all (OC-20). Default: as many as come. */
  readonly perMinute?: number
  /** Where work, answers and results are kept. Default: in memory, gone with the process. */
  readonly keep?: Keep
  /** Where skills that must not run twice remember that they did. Default: in memory. */
  readonly answers?: Answers
  /** Closes where both are kept: called last of all when the agent stops. */
  readonly close?: () => Promise<void>
  /** The author's own rule about an ask: a code for why not, or undefined. */
  readonly policy?: (asked: WorkAsked, requester: Requester) => string | undefined
  /** What callbacks may be dialled beside public addresses: `10.0.0.0/8`, `localhost`, `*`. */
  readonly allowNet?: readonly string[]
  /**
   * The status feed, where one is to be told (SF-1 … SF-12). Its `auth` unless given: in production
   * mTLS, by `feed-cert.pem`, `feed-key.pem` and `feed-ca.pem` in the directory; in development a
   * signature by the agent's own key.
   */
  readonly feed?: FeedOption
  /**
   * A bus that others are on, such as `onNats()` of @chimera/bus/nats/for-agents: presence goes out
   * there, and offers, work, results and orders come and go over it. Default: HTTP alone.
   */
  readonly bus?: BusOption
  /** Another way for presence, identity and status. Default: the bus, else HTTP to the hub. */
  readonly outlet?: VoicesHands['outlet']
  /** Hears what somebody should look at. */
  readonly alert?: VoicesHands['alert']
  /** Whether SIGTERM and SIGINT stop the agent and end the process. Default: true. */
  readonly signals?: boolean
  /** How long a stop waits for running work, in milliseconds, below 8000. Default: 5000. */
  readonly drainMs?: number
  /** A log of one's own, or how much is written to standard output. Default: `info`. */
  readonly log?: Log | LogLevel
  readonly metrics?: Metrics
  readonly clock?: Clock
  readonly chance?: Chance
}

/** The agent cannot be, or not here: the sentence says what to do. */
export class AgentError extends Error {
  override readonly name = 'AgentError'
  readonly code: 'options_invalid' | 'not_started' | 'hub_refused'

  constructor(code: AgentError['code'], message: string) {
    super(message)
    this.code = code
  }
}

export const SLOTS = 16
export const DRAIN_MS = 5_000
// Of the nine seconds of a stop: what is left of them is for goodbye and for letting go.
const MOST_DRAIN_MS = 7_000

/** O1. What skills and addresses must be is said by their own parts. */
export function checkOptions(options: AgentOptions): void {
  const { name, owner, slots = SLOTS, drainMs = DRAIN_MS, perMinute = 1, keep } = options
  const wrong: string[] = []
  if (name.length === 0 || name.length > LIMITS.nameChars) {
    wrong.push(`name: 1 to ${LIMITS.nameChars} characters`)
  }
  if (owner.length === 0 || owner.length > LIMITS.ownerChars) {
    wrong.push(`owner: 1 to ${LIMITS.ownerChars} characters`)
  }
  if (!URL.canParse(options.hub)) wrong.push('hub: an address such as http://127.0.0.1:4600')
  if (!Number.isSafeInteger(slots) || slots < 1 || slots > LIMITS.slotsPerInstance) {
    wrong.push(`slots: a whole number from 1 to ${LIMITS.slotsPerInstance}`)
  }
  if (!Number.isSafeInteger(perMinute) || perMinute < 1) wrong.push('perMinute: at least 1')
  if (!(drainMs >= 0 && drainMs <= MOST_DRAIN_MS)) wrong.push(`drainMs: 0 to ${MOST_DRAIN_MS}`)
  if (options.key && options.directory !== false) wrong.push('key: only with directory: false')
  if (options.preset === 'production' && !keep?.durable) {
    wrong.push('keep: in production, one that lasts')
  }
  if (options.preset === 'production' && options.directory === false && needsFiles(options.feed)) {
    wrong.push('feed.auth: without a directory there are no certificates to find')
  }
  if (wrong.length > 0) throw new AgentError('options_invalid', wrong.join('; '))
}

const needsFiles = (feed: FeedOption | undefined): boolean =>
  feed !== undefined && feed.auth === undefined

/** SF-6: mTLS is what production has, unless something else is said. */
export function feedOf(
  feed: FeedOption,
  preset: AgentOptions['preset'],
  directory: string | undefined,
): FeedSettings {
  const { auth } = feed
  if (auth !== undefined) return { ...feed, auth }
  if (preset !== 'production' || directory === undefined) return { ...feed, auth: { by: 'jws' } }
  const file = (what: string): string => join(directory, `feed-${what}.pem`)
  const ca = file('ca')
  const files = { cert: file('cert'), key: file('key'), ...(existsSync(ca) && { ca }) }
  return { ...feed, auth: { by: 'mtls', tls: tlsFromFiles(files) } }
}
