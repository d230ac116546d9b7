/**
 * What the hub needs of whatever keeps its state. The hub knows no database: `compose.ts` fills
 * these from the store, and a test may fill them from anything that keeps the same promises.
 */
import type { Agents } from './agents.ts'
import type { KeptAlerts, Webhooks } from './alerts.ts'
import type { Aliases } from './aliases.ts'
import type { Allowances } from './allowances.ts'
import type { Approvals } from './approvals.ts'
import type { Campaigns, Reviews } from './campaigns.ts'
import type { Control } from './control.ts'
import type { Deliveries, Letters } from './deliveries.ts'
import type { HubKeys } from './hub-keys.ts'
import type { LiveLog } from './live.ts'
import type { Money } from './money.ts'
import type { Nonces } from './nonces.ts'
import type { Observations } from './observations.ts'
import type { Posts } from './posts.ts'
import type { PresenceEvents } from './presence.ts'
import type { Profiles } from './profiles.ts'
import type { Results } from './results.ts'
import type { Slots } from './slots.ts'
import type { Tokens } from './tokens.ts'
import type { Told } from './told.ts'
import type { Trail } from './trail.ts'

export type Keep = {
  readonly agents: Agents
  readonly profiles: Profiles
  readonly hubKeys: HubKeys
  readonly tokens: Tokens
  readonly nonces: Nonces
  readonly allowances?: Allowances
  readonly money: Money
  readonly slots: Slots
  readonly trail: Trail
  readonly presence: PresenceEvents
  readonly live: LiveLog
  readonly observations: Observations
  readonly aliases: Aliases
  readonly results: Results
  readonly told: Told
  readonly deliveries: Deliveries
  readonly letters: Letters
  readonly alerts: KeptAlerts
  readonly webhooks: Webhooks
  readonly control: Control
  readonly approvals: Approvals
  readonly posts: Posts
  readonly campaigns: Campaigns
  readonly reviews: Reviews
  /** Whether it answers; rejects when it does not. */
  readonly check: () => Promise<void>
}
