/**
 * Following the live feed: who may, what it hears, and from where.
 *
 *   J1  `audit` is for operators. Everything else is for whoever may read, who is told of `work`
 *       and `ledger` only what its owner is a party to. On an open hub everybody hears everything.
 *   J2  A stream lasts no longer than what it was opened with: a leaked session ends in minutes.
 *   J3  "From now" is behind everything that was acknowledged before.
 */
import { type Refused, refuse } from '@chimera/domain/decision'
import { LIMITS } from '@chimera/domain/limits'
import {
  decideResume,
  LIVE_TOPICS,
  type LiveFilter,
  type LiveTopic,
  type Resumed,
} from '@chimera/domain/live'
import type { Refusal } from '@chimera/domain/refusals'
import { TOKEN_TTL_MS } from '@chimera/identity/tokens'
import type { LiveListener } from '../views/live.ts'
import { type Caller, forbidden, isOperator, nameOf, permit } from './caller.ts'
import type { Hub } from './hub.ts'

export type LiveWanted = {
  readonly topics?: readonly LiveTopic[]
  readonly filter: LiveFilter
  readonly resumed?: Resumed
}

export type LiveOpened = { readonly ok: true; readonly listener: LiveListener } | Refused<Refusal>

// Somebody may have left by then; a reader that was turned away spreads by its own back-off.
const RETRY_MS = 5_000
const USUAL: readonly LiveTopic[] = LIVE_TOPICS.filter((topic) => topic !== 'audit')

export async function openLive(
  hub: Hub,
  caller: Caller,
  { topics = USUAL, filter, resumed }: LiveWanted,
): Promise<LiveOpened> {
  const all = isOperator(caller)
  const permitted = all ? ({ ok: true } as const) : permit(caller, 'read')
  if (!permitted.ok) return permitted
  if (topics.includes('audit') && !all) return forbidden()
  // On an open hub nobody can be told from another, so nobody has a share.
  const name = caller.open ? hub.uuid() : nameOf(caller)
  if (!hub.live.hasRoom(name)) {
    return refuse('service_unavailable', { retryAt: hub.now() + RETRY_MS })
  }
  await hub.settle()
  const { from, gap } = decideResume(resumed, await hub.keep.live.span(), topics)
  const { owner, token, agent } = caller
  const audience = {
    topics: LIVE_TOPICS.filter((topic) => topics.includes(topic)),
    all,
    ...(owner !== undefined && { owner }),
    filter,
  }
  const endsAt = hub.now() + (caller.session ? TOKEN_TTL_MS : LIMITS.liveStreamMs)
  return {
    ok: true,
    listener: {
      audience,
      from,
      gap,
      token: token?.id,
      agent,
      name,
      endsAt: Math.min(endsAt, token?.expiresAt ?? endsAt),
    },
  }
}
