/**
 * The six agents of a network and what their skills stand on. A file of its own, since it takes
 * most of what is loaded and the hub need not wait for it.
 */
import { join } from 'node:path'
import { startFleet } from '@chimera/fleet'
import type { Clock } from '@chimera/host/clock'
import type { Log } from '@chimera/host/log'
import type { Stop } from '@chimera/host/stop'
import { checkProviders, type Finding } from '@chimera/skills/providers/check'
import { openSkills } from '@chimera/skills/providers/open'
import type { ProviderSettings } from '@chimera/skills/providers/settings'
import { FLEET_DATA, SKILL_DATA } from './fresh.ts'

export type RolesOptions = {
  readonly hub: string
  readonly owner: string
  readonly token: string
  readonly providers: ProviderSettings
  /** Where keys and work lie. */
  readonly directory: string
  readonly clock: Clock
  readonly log: Log
  readonly stop: Stop
}

export type Roles = {
  readonly look: () => Promise<readonly Finding[]>
  readonly warm: () => Promise<void>
}

export async function startRoles(options: RolesOptions): Promise<Roles> {
  const { hub, owner, token, directory, clock, log, stop } = options
  const providers = { ...options.providers, hub: { url: hub, token: { env: TOKEN_NAME } } }
  const environment = { ...process.env, [TOKEN_NAME]: token }
  const hands = { clock, environment, directory: join(directory, SKILL_DATA) }
  const opened = await openSkills(providers, hands)
  stop.register({ name: 'skills', close: () => opened.close() })
  const fleet = await startFleet({
    hub,
    owner,
    token,
    directory: join(directory, FLEET_DATA),
    skills: opened.skills,
    clock,
    log: log.child({ part: 'fleet' }),
  })
  stop.register({
    name: 'fleet',
    boundMs: FLEET_MS,
    close: () => fleet.stop('the network stops'),
  })
  return { look: () => checkProviders(providers, hands), warm: opened.warm }
}

/** Of the nine seconds of a stop: the rest is for the hub and what the skills have open. */
const FLEET_MS = 6_000

/** A name of our own, so that no variable of the user's is touched. */
const TOKEN_NAME = 'CHIMERA_UP_OWNER_TOKEN'
