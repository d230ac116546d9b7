/**
 * A discovery as text, out of hits that were written before: whoever stands at the top is shown to
 * everybody, and says the same to all of them until something changes.
 *
 *   W1  A hit passes the guard when it is written, as the only one of an answer; so an answer that
 *       is put together from such hits has passed it (outgoing.ts, M1).
 *   W2  What a hit says depends on what is known of its agent, and on whom it stands behind and
 *       why. When one of these has changed it is written anew. The seconds since the agent was
 *       heard are put in as they are now.
 */
import {
  type AgentsSought,
  encodeDiscovered,
  secondsShown,
  tellAge,
} from '@chimera/dialects/chorus'
import type { CorrelationId, Instant } from '@chimera/domain/ids'
import { behindWhom, type Place, type Ranked } from '@chimera/domain/matching/matching'
import type { FastifyBaseLogger } from 'fastify'
import { describe, discover } from '../act/agents.ts'
import type { Hub } from '../act/hub.ts'
import type { Guard } from '../guard.ts'
import { Unsendable } from './outgoing.ts'

export type HitWriter = (
  asked: AgentsSought,
  log: FastifyBaseLogger,
  trace?: CorrelationId,
) => string

// More than a hirer asks one after another.
const MOST_NOTED = 20

type Written = {
  /** Up to the seconds, and what stands behind them; all of it where it says none. */
  readonly before: string
  readonly behind: string | undefined
  readonly turn: string | undefined
  /** By whom and by what it is behind, and by which figures that was found. */
  readonly above: string | undefined
  readonly by: string | undefined
  over: Ranked | undefined
}

export function createHitWriter({ hub, guard }: { hub: Hub; guard: Guard }): HitWriter {
  // What is known of an agent is one object while nothing changes (views/shelf.ts).
  const known = new WeakMap<Ranked, Written>()

  function write(place: Place, asked: Asked, log: FastifyBaseLogger): Written {
    const hit = describe(hub, place, asked)
    const answer = hit && guard.pass('chorus/discovered', encodeDiscovered([hit], 1), log)
    if (hit !== undefined && answer === undefined) throw new Unsendable()
    const [only] = answer && 'agents' in answer ? (answer.agents as readonly unknown[]) : []
    const behind = behindWhom(place)
    const text = only === undefined ? '' : JSON.stringify(only)
    const written = {
      ...aroundSeconds(text, secondsOf(place, asked.now)),
      turn: place.turn?.gave,
      above: behind?.above,
      by: behind?.by,
      over: place.above,
    }
    known.set(place.ranked, written)
    return written
  }

  function textOf(place: Place, asked: Asked, log: FastifyBaseLogger): string {
    const before = known.get(place.ranked)
    const isSame =
      before !== undefined && before.turn === place.turn?.gave && standsAsBefore(place, before)
    const written = isSame ? before : write(place, asked, log)
    if (written.behind === undefined) return written.before
    return `${written.before}${secondsOf(place, asked.now)}${written.behind}`
  }

  return (sought, log, trace) => {
    const now = hub.now()
    const { places, total } = discover(hub, sought, now)
    const asked = { skill: sought.skills[0], now }
    if (trace !== undefined) {
      const agents = places.slice(0, MOST_NOTED).map(({ ranked }) => ranked.candidate.agent)
      hub.asides.noteSearch(trace, { at: now, skill: asked.skill ?? '', agents, total })
    }
    let hits = ''
    for (const place of places) {
      const text = textOf(place, asked, log)
      if (text !== '') hits = hits === '' ? text : `${hits},${text}`
    }
    return `{"agents":[${hits}],"total":${total}}`
  }
}

type Asked = { readonly skill: string | undefined; readonly now: Instant }

/** The reasons stand last, behind what strangers have a say in; so the last such one is ours. */
function aroundSeconds(text: string, seconds: number): Pick<Written, 'before' | 'behind'> {
  const sentence = JSON.stringify(tellAge(seconds))
  const found = text.lastIndexOf(sentence)
  if (found < 0) return { before: text, behind: undefined }
  const at = found + sentence.indexOf(`${seconds}`)
  return { before: text.slice(0, at), behind: text.slice(at + `${seconds}`.length) }
}

const secondsOf = ({ ranked }: Place, now: Instant): number =>
  secondsShown(Math.max(0, now - ranked.candidate.seenAt))

/** The one above may have been heard in between, which changes nothing for the one below. */
function standsAsBefore(place: Place, before: Written): boolean {
  if (before.over === place.above) return true
  const behind = behindWhom(place)
  if (before.above !== behind?.above || before.by !== behind?.by) return false
  before.over = place.above
  return true
}
