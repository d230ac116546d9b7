/** What a hub says of itself, and whom it takes the caller for. Settings are for operators. */
import type { HubTold } from '@chimera/dialects/chimera'
import type { Instant } from '@chimera/domain/ids'
import { type Caller, isOperator } from './caller.ts'
import type { Hub } from './hub.ts'

/** What does not change while it runs. */
export type HubAbout = {
  readonly startedAt: Instant
  readonly database: 'embedded' | 'server'
  /** Without secrets, and without names of the inside. */
  readonly settings: readonly {
    readonly name: string
    readonly value: string
    readonly about: string
  }[]
}

export function showHub(hub: Hub, caller: Caller): HubTold {
  const { startedAt, database, settings } = hub.about
  return {
    open: caller.open,
    now: hub.now(),
    startedAt,
    agents: hub.directory.size(),
    sealed: hub.scores.seq(),
    database,
    broker: hub.share.broker().type,
    followers: hub.live.size(),
    you: youAre(caller),
    ...(isOperator(caller) && { settings }),
  }
}

function youAre(caller: Caller): HubTold['you'] {
  const { open, operator, agent, owner, scopes, token } = caller
  const named = agent === undefined ? 'owner' : 'agent'
  return {
    kind: open ? 'anybody' : operator ? 'operator' : named,
    ...(owner !== undefined && { owner }),
    scopes,
    ...(token?.expiresAt !== undefined && { expiresAt: token.expiresAt }),
  }
}
