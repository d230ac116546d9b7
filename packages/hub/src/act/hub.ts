/**
 * What the hub is made of when it acts: what it keeps, what it sees, and what is handed in. Actions
 * take this and a command, and answer with an outcome; they know no HTTP.
 */
import type { Instant, PublicKey } from '@chimera/domain/ids'
import type { SettlementTerms } from '@chimera/domain/money/amount'
import type { Clock } from '@chimera/host/clock'
import type { GuardedClient } from '@chimera/host/guarded/client'
import type { Judge } from '@chimera/host/guarded/judge'
import type { KeyPair } from '@chimera/identity/keys'
import type { MessageVerdict } from '@chimera/identity/message'
import type { Alerts } from '../alarm.ts'
import type { Deliverer } from '../deliver.ts'
import type { Heard, Publish } from '../ports/bus.ts'
import type { Share } from '../ports/carrier.ts'
import type { Granting } from '../ports/granting.ts'
import type { Keep } from '../ports/keep.ts'
import type { Asides } from '../views/asides.ts'
import type { Directory } from '../views/directory.ts'
import type { Feed } from '../views/feed.ts'
import type { Grants } from '../views/grants.ts'
import type { Live } from '../views/live.ts'
import type { Observed } from '../views/observed.ts'
import type { Presence } from '../views/presence.ts'
import type { Records } from '../views/records.ts'
import type { Scores } from '../views/scores.ts'
import type { Uptime } from '../views/uptime.ts'
import type { HubAbout } from './about.ts'
import type { Schemas } from './output.ts'
import type { Providers } from './providers.ts'

export type Hub = {
  readonly keep: Keep
  readonly directory: Directory
  readonly presence: Presence
  readonly feed: Feed
  readonly observed: Observed
  readonly records: Records
  readonly uptime: Uptime
  readonly scores: Scores
  /** What is said of hires beside their facts. */
  readonly asides: Asides
  /** Whoever follows what happens here. */
  readonly live: Live
  /** The schemas that agents publish, ready to check with. */
  readonly schemas: Schemas
  /** For every address that somebody else gave. */
  readonly dial: GuardedClient
  /** Whether it would be dialled. */
  readonly judge: Judge
  /** What its operators must know. */
  readonly alerts: Alerts
  readonly deliverer: Deliverer
  /** Its own key; absent on an open hub, which vouches for nothing. */
  readonly key?: KeyPair
  /** Whether this key signed the message. */
  readonly verify: (message: object, key: PublicKey) => MessageVerdict | Promise<MessageVerdict>
  readonly now: () => Instant
  readonly sleep: Clock['sleep']
  readonly uuid: () => string
  /** One that holds the present time and sorts by it. */
  readonly uuidV7: () => string
  readonly fraction: () => number
  /** How long an owner waits for a key that replaces a lost one. */
  readonly recoveryDelayMs: number
  /** How long the content of a result is kept. */
  readonly resultsKeptMs: number
  /** What a new account starts with. */
  readonly grantCents: number
  /** What is kept of each payment for work. */
  readonly settlement: SettlementTerms
  /** Says something to whoever listens, and to nobody if nobody does. */
  readonly publish: Publish
  readonly heard: Heard
  /** Lets agents onto the broker, where it may. */
  readonly granting?: Granting
  readonly grants: Grants
  /** The other hubs on the same database. */
  readonly share: Share
  readonly about: HubAbout
  /** What the fleet of the same process stands on. */
  readonly providers: Providers
  /** Gives new facts their place and lets the views follow. Answers when that is done. */
  readonly settle: () => Promise<void>
}
