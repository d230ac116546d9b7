/**
 * Passes at an agent's door: a bearer that its hub gave the caller for a signature, verified here
 * and nowhere else (decision 0056).
 *
 *   P1  A pass is verified once and then known by its text until it ends, or until the hub signs
 *       with another key.
 *   P2  A text that does not verify is judged once more by the key that the hub has now, but not
 *       more often than so: strangers must not make the agent ask its hub.
 *   P3  An open hub gives no passes and vouches for nothing: there a bearer is not looked at.
 */
import { type Refused, refuse } from '@chimera/domain/decision'
import type { AgentId, Instant, PublicKey } from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'
import { createKeyring } from '@chimera/identity/keyring'
import { verifyPass } from '@chimera/identity/passes'
import { isPromise, type Soon } from '@chimera/skill/soon'
import type { Network } from '../ports.ts'

export type Passed =
  | { readonly ok: true; readonly key?: PublicKey; readonly pass?: true }
  | Refused<Refusal>

/** By the text of `Authorization`: whose key the pass stands for. */
export type Passes = (authorization: string) => Soon<Passed>

export type PassesOptions = {
  readonly at: AgentId
  readonly network: Pick<Network, 'hubKey'>
  readonly now: () => Instant
}

type Known = {
  readonly passed: Passed
  readonly hub: PublicKey
  readonly until: Instant
}

const BEARER = /^Bearer +([\x21-\x7e]{1,2000})$/i
// A few hundred bytes each: a few megabytes for more callers than an agent has in five minutes.
const MOST_KNOWN = 10_000
const LOOK_AGAIN_MS = 10_000

export function createPasses({ at, network, now }: PassesOptions): Passes {
  const keyring = createKeyring()
  const known = new Map<string, Known>()
  let lookAgainAt = 0

  function remember(authorization: string, pass: Known): void {
    known.set(authorization, pass)
    const oldest = known.keys().next()
    if (known.size > MOST_KNOWN && !oldest.done) known.delete(oldest.value)
  }

  async function judge(text: string, hub: PublicKey) {
    return verifyPass(text, { at, hub, keyring }, now())
  }

  /** P2. */
  async function replacedBy(hub: PublicKey): Promise<PublicKey | undefined> {
    if (now() < lookAgainAt) return undefined
    lookAgainAt = now() + LOOK_AGAIN_MS
    const present = await network.hubKey(true)
    return typeof present === 'string' && present !== hub ? present : undefined
  }

  async function verify(authorization: string, hub: PublicKey): Promise<Passed> {
    const [, text] = BEARER.exec(authorization) ?? []
    if (text === undefined) return refuse('token_invalid')
    let by = hub
    let verdict = await judge(text, by)
    if (!verdict.ok && verdict.refusal === 'token_invalid') {
      const present = await replacedBy(hub)
      if (present !== undefined) {
        by = present
        verdict = await judge(text, by)
      }
    }
    if (!verdict.ok) return verdict
    const { key, expiresAt: until } = verdict.pass
    const passed = { ok: true, key, pass: true } as const
    remember(authorization, { passed, hub: by, until })
    return passed
  }

  function look(authorization: string, hub: Awaited<ReturnType<Network['hubKey']>>): Soon<Passed> {
    if (hub === undefined) return { ok: true }
    if (typeof hub !== 'string') return hub
    const before = known.get(authorization)
    if (before !== undefined) {
      if (before.hub === hub && before.until > now()) return before.passed
      known.delete(authorization)
    }
    return verify(authorization, hub)
  }

  return (authorization) => {
    const hub = network.hubKey()
    return isPromise(hub) ? hub.then((key) => look(authorization, key)) : look(authorization, hub)
  }
}
