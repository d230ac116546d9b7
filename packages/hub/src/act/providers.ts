/**
 * What stands behind the skills of the fleet that runs in the hub's own process, for operators.
 *
 *   Y1  Trying costs a little, so it is done when somebody asks for it; what was found last is
 *       shown to everybody who looks. Who asks meanwhile waits for the same answer.
 *   Y2  What it says names no secret and no place of the inside.
 *   Y3  A hub without a fleet knows of none, and says so.
 */
import type { ProviderFound, ProvidersTried } from '@chimera/dialects/chimera'
import type { Refused } from '@chimera/domain/decision'
import type { Instant } from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'
import { redactText } from '@chimera/host/redact'
import { type Caller, forbidden, isOperator } from './caller.ts'
import type { Hub } from './hub.ts'

export type TryProviders = () => Promise<readonly ProviderFound[]>

export type Providers = {
  readonly last: () => Promise<ProvidersTried>
  readonly anew: () => Promise<ProvidersTried>
}

export function createProviders(attempt: TryProviders | undefined, now: () => Instant): Providers {
  let known: Promise<ProvidersTried> | undefined
  let running: Promise<ProvidersTried> | undefined

  async function run(tryAll: TryProviders): Promise<ProvidersTried> {
    const found = await tryAll()
    return { providers: found.map(redacted), at: now() }
  }
  const anew = (): Promise<ProvidersTried> => {
    if (attempt === undefined) return Promise.resolve({ providers: [] })
    running ??= run(attempt).finally(() => {
      running = undefined
    })
    known = running
    return running
  }
  return { anew, last: () => known ?? anew() }
}

/** Y2. */
const redacted = (provider: ProviderFound): ProviderFound => ({
  what: redactText(provider.what),
  state: provider.state,
  found: redactText(provider.found),
  ...(provider.cost !== undefined && { cost: redactText(provider.cost) }),
  ...(provider.fallback !== undefined && { fallback: redactText(provider.fallback) }),
  ...(provider.next !== undefined && { next: redactText(provider.next) }),
})

export async function showProviders(
  hub: Hub,
  caller: Caller,
  when: keyof Providers,
): Promise<({ readonly ok: true } & ProvidersTried) | Refused<Refusal>> {
  if (!isOperator(caller)) return forbidden()
  return { ok: true, ...(await hub.providers[when]()) }
}
