/**
 * What the hub needs of whatever keeps its state. The hub knows no database: `compose.ts` fills
 * these from the store, and a test may fill them from anything that keeps the same promises.
 */
import type { Agents } from './agents.ts'
import type { Money } from './money.ts'
import type { PresenceEvents } from './presence.ts'
import type { Tokens } from './tokens.ts'
import type { Trail } from './trail.ts'

export type Keep = {
  readonly agents: Agents
  readonly tokens: Tokens
  readonly money: Money
  readonly trail: Trail
  readonly presence: PresenceEvents
  /** Whether it answers; rejects when it does not. */
  readonly check: () => Promise<void>
}
