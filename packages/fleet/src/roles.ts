/**
 * The six roles of the fleet: what each is called on the network, what it can do, and what it asks
 * for it. A role is an agent like any other; it can run beside the others or alone elsewhere.
 */
import type { Skill } from '@chimera/skill/contract'

export const ROLES = [
  'trend-analyst',
  'orchestrator',
  'content-creator',
  'judge',
  'distribution-manager',
  'cfo-judge',
] as const
export type Role = (typeof ROLES)[number]

export const isRole = (text: string): text is Role => ROLES.some((role) => role === text)

/** In credits, for one call. What is not named is free. */
export type Prices = Readonly<Partial<Record<string, number>>>

// biome-ignore format: a table is read by its columns
const SKILLS: Readonly<Record<Role, readonly string[]>> = {
  'trend-analyst':        ['fetch_trends', 'semantic_filter'],
  'orchestrator':         ['run_campaign', 'get_agent_profile', 'update_agent_state', 'register_openclaw_profile'],
  'content-creator':      ['generate_content'],
  'judge':                ['validate_content'],
  'distribution-manager': ['publish_content'],
  'cfo-judge':            ['approve_spend', 'fetch_wallet_balance', 'debit_wallet'],
}

/**
 * A run is paid more than its parts cost together: five trends on four platforms, each written
 * three times, are more than most campaigns want, and what is not used stays with the fleet.
 */
export const PRICES: Prices = {
  run_campaign: 10,
  fetch_trends: 0.05,
  semantic_filter: 0.1,
  generate_content: 0.25,
  validate_content: 0.1,
  publish_content: 0.1,
}

/** Of all skills, those of the role, at these prices. */
export function skillsFor(role: Role, skills: readonly Skill[], prices: Prices): readonly Skill[] {
  return skills
    .filter(({ name }) => SKILLS[role].includes(name))
    .map((skill) => ({ ...skill, priceCents: Math.round((prices[skill.name] ?? 0) * 100) }))
}

/** What these roles need of the ten skills. */
export const skillNamesOf = (roles: readonly Role[]): ReadonlySet<string> =>
  new Set(roles.flatMap((role) => SKILLS[role]))

export const nameOf = (role: Role): string => `chimera-${role}`
