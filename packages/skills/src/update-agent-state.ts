/**
 * `update_agent_state` (SK-12): what an agent is ordered to be, under its version.
 *
 *   U1  Decided where the agent is registered, in one step: all of it or nothing.
 *   U2  A retry of an update whose answer was lost may meet its own version. It has succeeded if
 *       the agent is what was asked for, one version on.
 */
import { SKILLS } from '@chimera/dialects/skills/contracts'
import type { AgentProfile } from '@chimera/dialects/skills/profile'
import type { UpdateAgentStateInput } from '@chimera/dialects/skills/schema'
import { defineSkill } from '@chimera/skill/define'
import { contracted } from './contracted.ts'
import type { RegistrySkillOptions } from './get-agent-profile.ts'
import { RegistryFailure } from './hub/registry.ts'

const { update_agent_state: CONTRACT } = SKILLS

export function updateAgentState(options: RegistrySkillOptions) {
  const { registry } = options

  async function isDone(asked: UpdateAgentStateInput, signal: AbortSignal) {
    const profile = await registry.show(asked.agent_id, signal)
    const next = (asked.expected_version ?? 0) + 1
    return profile.version === next && isAsAsked(profile, asked) ? profile : undefined
  }

  return defineSkill({
    ...contracted(CONTRACT, options),
    provider: registry.name,
    check: { input: ({ state_updates }) => nothingIn(state_updates) },
    run: async (asked, { signal, failure, attempt }) => {
      try {
        return await registry.update(asked, signal)
      } catch (cause) {
        if (!(cause instanceof RegistryFailure)) throw cause
        const { code, message: detail, retryAfterMs } = cause
        if (code === 'CONCURRENCY_ERROR' && attempt > 1) {
          const done = await isDone(asked, signal)
          if (done) return { success: true, updated_profile: done, new_version: done.version }
        }
        const wait = retryAfterMs !== undefined && { retryAfter: retryAfterMs }
        throw failure(code, { cause, detail, ...wait })
      }
    },
  })
}

function nothingIn({ reason: _, ...updates }: UpdateAgentStateInput['state_updates']) {
  if (Object.keys(updates).length > 0) return []
  return [{ path: '/state_updates', expected: 'at least one field to update', got: 'none' }]
}

function isAsAsked(
  profile: AgentProfile,
  { state_updates: { reason: _, last_execution: at, ...fields } }: UpdateAgentStateInput,
): boolean {
  const shown: Readonly<Record<string, unknown>> = profile
  const same = Object.entries(fields).every(([name, value]) => shown[name] === value)
  if (at === undefined) return same
  return same && Date.parse(profile.last_execution ?? '') === Date.parse(at)
}
