/**
 * The fleet: its roles as agents on the network, in one process or each in its own.
 *
 *   F1  A role is an agent and nothing more: it registers, is found, hired and paid like any other.
 *   F2  What an agent has taken on outlives the process, in files of its own beside its key.
 *   F3  The orchestrator starts last and stops first: nobody is asked who is not there.
 */
import { join } from 'node:path'
import { type Agent, type AgentOptions, createAgent, openFileKeep } from '@chimera/agent'
import { createHubClient } from '@chimera/agent/hub/client'
import type { Skill } from '@chimera/skill/contract'
import { approveSpend } from './approve-spend.ts'
import { createHubDesk } from './campaign/hub-desk.ts'
import { nameOf, PRICES, type Prices, ROLES, type Role, skillsFor } from './roles.ts'
import { runCampaign } from './run-campaign.ts'

export type FleetOptions = Pick<
  AgentOptions,
  'hub' | 'owner' | 'hubKey' | 'preset' | 'log' | 'clock' | 'chance' | 'bus' | 'feed' | 'drainMs'
> & {
  /** The owner's token: with it agents are registered, campaigns told and reviews opened. */
  readonly token: string | (() => string | undefined)
  /** Where keys and work are kept, a folder for each role. */
  readonly directory: string
  /** The ten skills, as `openSkills` of @chimera/skills gives them. */
  readonly skills: readonly Skill[]
  /** Those that run here. Default: all six. */
  readonly roles?: readonly Role[]
  /** In credits. Default: `PRICES`. */
  readonly prices?: Prices
}

export type Fleet = {
  readonly agents: ReadonlyMap<Role, Agent>
  readonly stop: (reason?: string) => Promise<void>
}

/** Resolves when all of them can be asked. Where one cannot start, none runs. */
export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const { roles = ROLES } = options
  const agents = new Map<Role, Agent>()
  const hub = createHubClient({ hub: options.hub, token: options.token, ...timeOf(options) })

  async function stop(reason = 'asked to'): Promise<void> {
    const { orchestrator, others } = apart(agents)
    await orchestrator?.stop(reason)
    await Promise.all(others.map((each) => each.stop(reason)))
    await hub.close()
  }

  const desk = createHubDesk({
    hub,
    agent: () => agents.get('orchestrator')?.id() ?? '',
  })
  const { prices = PRICES } = options
  const skills = [...options.skills, approveSpend(), runCampaign({ desk, prices, ...options })]
  try {
    const others = roles.filter((role) => role !== 'orchestrator')
    await Promise.all(others.map(async (role) => startRole(role, skills, options, agents)))
    if (roles.includes('orchestrator')) await startRole('orchestrator', skills, options, agents)
  } catch (error) {
    await stop('could not start')
    throw error
  }
  return { agents, stop }
}

const apart = (agents: ReadonlyMap<Role, Agent>) => ({
  orchestrator: agents.get('orchestrator'),
  others: [...agents].flatMap(([role, agent]) => (role === 'orchestrator' ? [] : [agent])),
})

const timeOf = ({ clock, chance }: FleetOptions) => ({
  ...(clock && { clock }),
  ...(chance && { chance }),
})

async function startRole(
  role: Role,
  skills: readonly Skill[],
  options: FleetOptions,
  agents: Map<Role, Agent>,
): Promise<void> {
  const { skills: _skills, roles: _roles, prices = PRICES, directory, ...shared } = options
  const place = join(directory, role)
  const kept = await openFileKeep({
    directory: join(place, 'work'),
    ...(options.clock && { clock: options.clock }),
  })
  const agent = createAgent({
    ...shared,
    name: nameOf(role),
    skills: skillsFor(role, skills, prices),
    directory: place,
    keep: kept.keep,
    answers: kept.answers,
    close: kept.close,
    signals: false,
  })
  agents.set(role, agent)
  await agent.start()
}
