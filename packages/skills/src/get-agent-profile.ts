/**
 * `get_agent_profile` (SK-11): an agent as its registry knows it.
 *
 *   P1  Good for ten seconds. When the registry does not answer, the last known copy is, marked as
 *       stale; where there is none, UNAVAILABLE.
 */
import { SKILLS } from '@chimera/dialects/skills/contracts'
import type { ProfileAnswer } from '@chimera/dialects/skills/profile'
import { defineSkill } from '@chimera/skill/define'
import { contracted, type Priced } from './contracted.ts'
import { type AgentRegistry, type RegistryCode, RegistryFailure } from './hub/registry.ts'

export type RegistrySkillOptions = Priced & { readonly registry: AgentRegistry }

const { get_agent_profile: CONTRACT } = SKILLS
// Both of its codes are common ones too, so they cannot be told from the rows.
type Codes = keyof typeof CONTRACT.errors

export function getAgentProfile(options: RegistrySkillOptions) {
  const { registry } = options
  const { cache } = CONTRACT
  return defineSkill<typeof CONTRACT.input, typeof CONTRACT.output, Codes>({
    ...contracted(CONTRACT, options),
    ...(cache && {
      cache: {
        ttl: cache.ttlMs,
        by: ({ agent_id }: { agent_id: string }) => agent_id.toLowerCase(),
      },
    }),
    provider: registry.name,
    run: async ({ agent_id: agent }, { signal, failure }): Promise<ProfileAnswer> => {
      try {
        return await registry.show(agent, signal)
      } catch (cause) {
        if (!(cause instanceof RegistryFailure)) throw cause
        const { code, message: detail } = cause
        throw failure(wordFor(code), { cause, detail })
      }
    },
    recover: ({ ending, cached }) =>
      ending === 'cached' && cached !== undefined ? { ...cached, stale: true } : undefined,
  })
}

/** P1: whatever else keeps it from answering. */
function wordFor(code: RegistryCode) {
  const said = code === 'AGENT_NOT_FOUND' || code === 'UNAUTHENTICATED' || code === 'FORBIDDEN'
  return said ? code : 'UNAVAILABLE'
}
