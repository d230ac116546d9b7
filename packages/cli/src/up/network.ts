/**
 * A whole network in one process: a hub, the six agents of the fleet, and the page.
 *
 *   N1  The hub asks for proof also on this machine: approvals are signed, and whoever approves is
 *       somebody. The tokens for it are made at the first start and lie beside the data.
 *   N2  What was begun goes on: a second start finds everything that the first one left.
 *   N3  Ends in the opposite order: the fleet first, which tells the hub, then what it stands on.
 */
import { join } from 'node:path'
import { startFleet } from '@chimera/fleet'
import { createChance } from '@chimera/host/chance'
import type { Clock } from '@chimera/host/clock'
import type { Log } from '@chimera/host/log'
import type { Values } from '@chimera/host/settings/declare'
import { keepSecret } from '@chimera/host/settings/secret'
import type { Stop } from '@chimera/host/stop'
import type { HUB_SETTINGS } from '@chimera/hub/settings'
import { startHub } from '@chimera/hub/start'
import { openSkills } from '@chimera/skills/providers/open'
import type { ProviderSettings } from '@chimera/skills/providers/settings'
import { askHub } from '../ask.ts'
import { consolePage } from '../console-page.ts'
import { announce, withdraw } from './here.ts'
import { ownerToken, readTokens } from './tokens.ts'

export type NetworkOptions = {
  readonly settings: Values<typeof HUB_SETTINGS>
  readonly providers: ProviderSettings
  readonly owner: string
  /** Where tokens, keys and work lie. */
  readonly directory: string
  readonly clock: Clock
  readonly log: Log
  readonly stop: Stop
  /** Hears what is being done, for whoever waits. */
  readonly onStep: (step: string) => void
}

export type Network = {
  readonly address: string
  readonly token: string
  /** Whether it was made by this start. */
  readonly isNew: boolean
  readonly page: boolean
}

export async function startNetwork(options: NetworkOptions): Promise<Network> {
  const { settings, owner, directory, clock, log, stop, onStep } = options
  const before = await readTokens(directory)
  const page = settings.console ? consolePage() : undefined
  onStep('starting the hub')
  const hub = await startHub({
    settings,
    clock,
    chance: createChance(),
    log: log.child({ part: 'hub' }),
    stop,
    newOperator: before.operator === undefined,
    page,
  })
  const { address } = hub
  const token = await ownerToken(before, {
    operator: hub.firstOperatorToken,
    owner,
    hub: address,
    directory,
  })
  await askHub(address, '/accounts', {
    token: keepSecret(token).secret,
    method: 'POST',
    body: { owner_id: owner },
  })
  onStep('starting the fleet')
  const environment = { ...process.env, [TOKEN_NAME]: token }
  const providers = {
    ...options.providers,
    hub: { url: address, token: { env: TOKEN_NAME } },
  }
  const opened = await openSkills(providers, {
    clock,
    environment,
    directory: join(directory, 'skills'),
  })
  stop.register({ name: 'skills', close: () => opened.close() })
  // Beside the rest of the start: the first campaign would wait for it.
  void opened.warm().catch((error: unknown) => log.warn({ err: error }, 'not warmed up'))
  const fleet = await startFleet({
    hub: address,
    owner,
    token,
    directory: join(directory, 'fleet'),
    skills: opened.skills,
    clock,
    log: log.child({ part: 'fleet' }),
  })
  stop.register({ name: 'fleet', close: () => fleet.stop('the network stops') })
  await announce(directory, { hub: address, owner })
  stop.register({ name: 'announcement', close: () => withdraw(directory) })
  return { address, token, isNew: before.owner === undefined, page: page !== undefined }
}

/** A name of our own, so that no variable of the user's is touched. */
const TOKEN_NAME = 'CHIMERA_UP_OWNER_TOKEN'
