/**
 * What the hub is made of when it acts: what it keeps, what it sees, and what is handed in. Actions
 * take this and a command, and answer with an outcome; they know no HTTP.
 */
import type { Instant, PublicKey } from '@chimera/domain/ids'
import type { GuardedClient } from '@chimera/host/guarded/client'
import type { KeyPair } from '@chimera/identity/keys'
import type { MessageVerdict } from '@chimera/identity/message'
import type { Keep } from '../ports/keep.ts'
import type { Directory } from '../views/directory.ts'
import type { Feed } from '../views/feed.ts'
import type { Observed } from '../views/observed.ts'
import type { Presence } from '../views/presence.ts'
import type { Scores } from '../views/scores.ts'

export type Hub = {
  readonly keep: Keep
  readonly directory: Directory
  readonly presence: Presence
  readonly feed: Feed
  readonly observed: Observed
  readonly scores: Scores
  /** For every address that somebody else gave. */
  readonly dial: GuardedClient
  /** Its own key; absent on an open hub, which vouches for nothing. */
  readonly key?: KeyPair
  /** Whether this key signed the message. */
  readonly verify: (message: object, key: PublicKey) => Promise<MessageVerdict>
  readonly now: () => Instant
  readonly uuid: () => string
  /** One that holds the present time and sorts by it. */
  readonly uuidV7: () => string
  readonly fraction: () => number
  /** What a new account starts with. */
  readonly grantCents: number
  /** Gives new facts their place and lets the views follow. Answers when that is done. */
  readonly settle: () => Promise<void>
}
