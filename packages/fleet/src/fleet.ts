/**
 * The fleet: its roles as agents on the network, in one process or each in its own.
 *
 *   F1  A role is an agent and nothing more: it registers, is found, hired and paid like any other.
 *   F2  What an agent has taken on outlives the process, in files of its own beside its key.
 *   F3  The orchestrator starts last and stops first: nobody is asked who is not there. A stop does
 *       not wait for its campaigns, which last for hours: they go on at the next start.
 */
import { join } from 'node:path'
import { type Agent, type AgentOptions, createAgent, openFileKeep } from '@chimera/agent'
import { createHubClient } from '@chimera/agent/hub/client'
import { createClock } from '@chimera/skill/clock'
import type { Skill } from '@chimera/skill/contract'
import { approveSpend } from './approve-spend.ts'
import { createHubDesk } from './campaign/hub-desk.ts'
import { sleepOn } from './campaign/patience.ts'
import { nameOf, PRICES, type Prices, ROLES, type Role, skillsFor } from './roles.ts'
import { runCampaign } from './run-campaign.ts'

/** Where an agent keeps its work, and how that is closed. */
export type Kept = Required<Pick<AgentOptions, 'keep' | 'answers' | 'close'>>

type Shared =
  | 'hub'
  | 'owner'
  | 'hubKey'
  | 'preset'
  | 'log'
  | 'clock'
  | 'chance'
  | 'bus'
  | 'feed'
  | 'drainMs'
  | 'allowNet'

export type FleetOptions = Pick<AgentOptions, Shared> & {
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
  /** Where each listens and is reached. Default: a free port of this machine only. */
  readonly place?: (role: Role) => Pick<AgentOptions, 'listen' | 'publicUrl'>
  /** Where the work of each is kept. Default: in files below its folder (F2). */
  readonly open?: (role: Role, directory: string) => Promise<Kept>
  /** Hears of each that can be asked. */
  readonly onStarted?: (role: Role, agent: Agent) => void
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

  let known = (_id: string): void => undefined
  const agent = new Promise<string>((resolve) => {
    known = resolve
  })
  const { prices = PRICES, clock = createClock() } = options
  const desk = createHubDesk({
    hub,
    agent,
    sleep: (ms, signal) => sleepOn(clock, ms, signal),
  })
  const skills = [...options.skills, approveSpend(), runCampaign({ desk, prices, ...options })]
  try {
    const others = roles.filter((role) => role !== 'orchestrator')
    await Promise.all(others.map(async (role) => startRole(role, skills, options, agents)))
    if (roles.includes('orchestrator')) await startRole('orchestrator', skills, options, agents)
    known(agents.get('orchestrator')?.id() ?? '')
  } catch (error) {
    await stop('could not start')
    throw error
  }
  return { agents, stop }
}

/** For what ends at once anyway. */
const LEAVE_MS = 500

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
  const { place, open = openFiles(options), onStarted, ...terms } = shared
  const own = join(directory, role)
  const { keep, answers, close } = await open(role, join(own, 'work'))
  const agent = createAgent({
    ...terms,
    ...place?.(role),
    name: nameOf(role),
    skills: skillsFor(role, skills, prices),
    directory: own,
    keep,
    answers,
    close,
    signals: false,
    // F3.
    ...(role === 'orchestrator' && { drainMs: Math.min(options.drainMs ?? LEAVE_MS, LEAVE_MS) }),
  })
  agents.set(role, agent)
  await agent.start()
  onStarted?.(role, agent)
}

const openFiles =
  ({ clock }: FleetOptions): NonNullable<FleetOptions['open']> =>
  (_, directory) =>
    openFileKeep({ directory, ...(clock && { clock }) })
