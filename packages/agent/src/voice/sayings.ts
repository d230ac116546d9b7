/**
 * What each voice has to say of a standing, and what its message is: which word, how often it is
 * repeated, and what counts as a change. The words are the dialects'.
 *
 *   Y1  OpenClaw tells a change of its status and of what must stand beside it. How many tasks
 *       there are goes along with the next message and is none itself: presence tells slots.
 *   Y2  Presence tells every change of state, slots and capabilities; the load goes along.
 *   Y3  The feed tells a change of its status and of capabilities; its note goes along.
 */
import * as feed from '@chimera/dialects/feed'
import * as moltbook from '@chimera/dialects/moltbook'
import * as openclaw from '@chimera/dialects/openclaw'
import { accepts, type Standing } from '@chimera/domain/agent/condition'
import type { CorrelationId, Instant } from '@chimera/domain/ids'
import type { Saying, Spoken } from '@chimera/domain/voice/cadence'
import { type Signed, signMessage } from '@chimera/identity/message'
import type { Self } from '../self/self.ts'
import type { Load } from './load.ts'

// A state is compared as a whole and its word read back: no word has a blank in it.
const stateOf = (word: string, ...parts: readonly (string | number)[]): string =>
  [word, ...parts].join(' ')

export function statusSaying(standing: Standing): Saying<string> {
  const { condition } = standing
  const word = openclaw.statusWord(standing)
  const { until = 0, reason = '' } = condition.name === 'maintenance' ? condition : {}
  const { code, lasting } = condition.name === 'error' ? condition.fault : NO_FAULT
  return { state: stateOf(word, until, reason, code, lasting), rhythm: openclaw.rhythmOf(word) }
}
const NO_FAULT = { code: '', lasting: '' }

export function statusMessage(
  { self, standing, correlation }: Speaking,
  { stamp, previous }: Pick<Spoken<string>, 'stamp' | 'previous'>,
): openclaw.schema.StatusUpdate {
  const before = previous === undefined ? undefined : statusWordIn(previous)
  return openclaw.encodeStatusUpdate(
    { agent: self.agent, standing, correlation, ...(before && { previous: before }) },
    stamp,
  )
}

const statusWordIn = (state: string): openclaw.schema.StatusWord =>
  state.split(' ', 1)[0] as openclaw.schema.StatusWord

export type Speaking = {
  readonly self: Self
  readonly standing: Standing
  readonly correlation: CorrelationId
}

export function presenceSaying(
  standing: Standing,
  capabilities: readonly string[],
): Saying<string> {
  const availability = moltbook.encodeStanding(standing)
  const { slotsTotal, slotsFree } = standing.workload
  const free = accepts(standing.condition) ? slotsFree : 0
  const state = stateOf(availability, slotsTotal, free, ...capabilities)
  return { state, rhythm: moltbook.RHYTHMS[availability] }
}

export function presenceMessage(
  { self, ...said }: Speaking & { readonly capabilities: readonly string[]; readonly load: Load },
  stamp: Instant,
): Signed<moltbook.schema.Presence> {
  const { agent, instance, keys } = self
  const announcement = moltbook.announce({ agent, instance, ...said }, stamp)
  return signMessage(moltbook.encodePresence(announcement), keys.pair())
}

/** AV-2, AV-5: capabilities, where offers are taken, which key is meant, and that it drains. */
export function declarationSaying(standing: Standing, particulars: string): Saying<string> {
  const drains = standing.condition.name === 'draining'
  return { state: stateOf(drains ? 'draining' : 'usual', particulars), rhythm: 'silent' }
}

export function feedSaying(standing: Standing, capabilities: readonly string[]): Saying<string> {
  const word = feed.encodeCondition(standing.condition)
  return { state: stateOf(word, ...capabilities), rhythm: feed.RHYTHMS[word] }
}

/** What must not be folded: whoever plans with this agent has to know at once. */
export function urgencyOf(standing: Standing, before: Standing): 'urgent' | 'usual' {
  const { name } = standing.condition
  if (name === before.condition.name) return 'usual'
  return name === 'draining' || name === 'maintenance' || name === 'stopped' ? 'urgent' : 'usual'
}
