/**
 * A whole network in one process: a hub, the six agents of the fleet, and the page.
 *
 *   N1  The hub asks for proof also on this machine: approvals are signed, and whoever approves is
 *       somebody. The tokens for it are made at the first start and lie beside the data.
 *   N2  What was begun goes on: a second start finds everything that the first one left.
 *   N3  Ends in the opposite order: the fleet first, which tells the hub, then what it stands on.
 *   N4  Whoever waits has the address as soon as the hub answers: the agents come while the page
 *       is opened, and are seen to.
 */
import { createHubClient } from '@chimera/agent/hub/client'
import { createChance } from '@chimera/host/chance'
import type { Clock } from '@chimera/host/clock'
import type { Log } from '@chimera/host/log'
import type { Values } from '@chimera/host/settings/declare'
import type { Stop } from '@chimera/host/stop'
import type { HUB_SETTINGS } from '@chimera/hub/settings'
import { startHub } from '@chimera/hub/start'
import type { ProviderSettings } from '@chimera/skills/providers/settings'
import type { Database } from '@chimera/store/engine/database'
import { consolePage } from '../console-page.ts'
import { announce, withdraw } from './here.ts'
import type { Roles } from './roles.ts'
import { answered, ownerToken, readTokens, TRIES } from './tokens.ts'

export type NetworkOptions = {
  readonly settings: Values<typeof HUB_SETTINGS>
  readonly providers: ProviderSettings
  readonly owner: string
  /** The database of the settings, which opens while the rest is loaded. */
  readonly database?: Promise<Database>
  /** Where tokens, keys and work lie. */
  readonly directory: string
  readonly clock: Clock
  readonly log: Log
  readonly stop: Stop
  /** Hears what is being done, for whoever waits. */
  readonly onStep: (step: string) => void
  /** Hears of the hub once it answers (N4). */
  readonly onHub?: (hub: HubThere) => void
}

export type HubThere = {
  readonly address: string
  readonly token: string
  /** The operator's: whoever started the hub runs it too. */
  readonly operator: string | undefined
  /** Whether it was made by this start. */
  readonly isNew: boolean
  readonly page: boolean
}

export type Network = HubThere & {
  /** Loads what the first campaign would wait for: seconds of work, so after the greeting. */
  readonly warm: () => void
}

export async function startNetwork(options: NetworkOptions): Promise<Network> {
  const { settings, owner, directory, clock, log, stop, onStep, database } = options
  const before = await readTokens(directory)
  const page = settings.console ? consolePage() : undefined
  // Nothing is known of them before there are skills that stand on them.
  let found: Roles['look'] = async () => []
  onStep('starting the hub')
  const hub = await startHub({
    settings,
    clock,
    chance: createChance(),
    log: log.child({ part: 'hub' }),
    stop,
    newOperator: before.operator === undefined,
    page,
    providers: () => found(),
    ...(database && { open: () => database }),
  })
  const { address } = hub
  const operator = hub.firstOperatorToken
  const token = await ownerToken(before, { operator, owner, hub: address, directory, clock })
  await openAccount(address, { owner, token, clock })
  await announce(directory, { hub: address, owner })
  stop.register({ name: 'announcement', close: () => withdraw(directory) })
  const there: HubThere = {
    address,
    token,
    operator: operator ?? before.operator,
    isNew: before.owner === undefined,
    page: page !== undefined,
  }
  options.onHub?.(there)
  onStep('starting the fleet')
  const { startRoles } = await import('./roles.ts')
  const { providers } = options
  const hands = { owner, token, providers, directory, clock, log, stop }
  const { look, warm } = await startRoles({ hub: address, ...hands })
  found = look
  return {
    ...there,
    warm: () => void warm().catch((err: unknown) => log.warn({ err }, 'not warmed up')),
  }
}

/** Opened anew, it is the one that is there. */
async function openAccount(
  hub: string,
  { owner, token, clock }: Pick<NetworkOptions, 'owner' | 'clock'> & { readonly token: string },
): Promise<void> {
  const client = createHubClient({ hub, token, clock, tries: TRIES })
  try {
    const asked = { repeatable: true }
    answered(await client.post('/accounts', { owner_id: owner }, asked))
  } finally {
    await client.close()
  }
}
