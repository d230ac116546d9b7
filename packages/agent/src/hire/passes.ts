/**
 * A hirer's passes: what it shows at the door of an agent that it asks again and again, instead of
 * signing each request (decision 0056).
 *
 *   P1  Who is asked once is asked with a signature. A pass is got beside the second ask, and shown
 *       from when it is there; nobody ever waits for one.
 *   P2  A pass is shown to the agent that it names, and never where others could read it on its
 *       way: over TLS, or on this machine.
 *   P3  An agent that does not take it is asked with signatures, and so is everybody where the hub
 *       gives none; both are tried again after a while.
 *   P4  A pass stands for one key. With another key it is not shown any more.
 */
import { encodeNewPass, readPassMade } from '@chimera/dialects/chimera'
import type { AgentId, Instant, KeyId } from '@chimera/domain/ids'
import type { Clock } from '@chimera/host/clock'
import type { KeyPair } from '@chimera/identity/keys'
import type { HubClient } from '../hub/client.ts'

export type PassesOptions = {
  readonly hub: Pick<HubClient, 'post'>
  readonly key: () => KeyPair
  readonly clock: Pick<Clock, 'now'>
}

export type Passes = {
  /** For work, at this address; who asks often is worth a pass. */
  readonly asked: (agent: AgentId, url: string) => void
  /** Undefined: sign. */
  readonly at: (agent: AgentId, url: string) => string | undefined
  /** The agent has not taken it. */
  readonly refused: (agent: AgentId) => void
}

type Known = {
  /** Before this it is not asked for. */
  readonly notBefore: Instant
  readonly pass?: { readonly text: string; readonly key: KeyId; readonly until: Instant }
}

// Long enough for a request that is on its way, and for getting the next one beside.
const RENEW_MS = 60_000
const LAST_MS = 5_000
const AGAIN_MS = 5 * 60_000
/** A few hundred bytes each. */
const MOST_AGENTS = 10_000

export function createPasses({ hub, key, clock }: PassesOptions): Passes {
  const known = new Map<AgentId, Known>()

  function remember(agent: AgentId, what: Known): void {
    known.delete(agent)
    known.set(agent, what)
    const oldest = known.keys().next()
    if (known.size > MOST_AGENTS && !oldest.done) known.delete(oldest.value)
  }

  async function ask(agent: AgentId, before: Known): Promise<void> {
    const { id } = key()
    // Nobody else asks meanwhile.
    remember(agent, { ...before, notBefore: clock.now() + AGAIN_MS })
    const answer = await hub.post('/v1/passes', encodeNewPass(agent), { tries: 1 })
    const made = answer.ok ? readPassMade(answer.body) : undefined
    if (!made?.ok) return
    const { text, expiresAt: until } = made.value
    remember(agent, { notBefore: until - RENEW_MS, pass: { text, key: id, until } })
  }

  return {
    asked(agent, url) {
      if (!isPrivate(url)) return
      const before = known.get(agent)
      // P1: the next ask wants one.
      if (before === undefined) remember(agent, { notBefore: clock.now() })
      else if (before.notBefore <= clock.now()) void ask(agent, before)
    },
    at(agent, url) {
      const pass = known.get(agent)?.pass
      if (pass === undefined || pass.until - LAST_MS <= clock.now()) return undefined
      return pass.key === key().id && isPrivate(url) ? pass.text : undefined
    },
    refused: (agent) => remember(agent, { notBefore: clock.now() + AGAIN_MS }),
  }
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

/** P2. */
function isPrivate(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' || LOOPBACK.test(hostname)
}
