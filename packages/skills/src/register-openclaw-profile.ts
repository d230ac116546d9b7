/**
 * `register_openclaw_profile` (SK-15): enters an agent's profile in the network, signed by its key.
 *
 *   R1  The same agent again is an update, never a second entry.
 *   R2  A network that is down, or does not take it, is a warning to go on with; a caller who may
 *       not, or a profile that is none, is an error.
 */
import { SKILLS } from '@chimera/dialects/skills/contracts'
import type { RegisterOpenclawProfileOutput } from '@chimera/dialects/skills/schema'
import { defineSkill } from '@chimera/skill/define'
import { contracted } from './contracted.ts'
import type { RegistrySkillOptions } from './get-agent-profile.ts'
import { type RegistryCode, RegistryFailure } from './hub/registry.ts'

const { register_openclaw_profile: CONTRACT } = SKILLS

/** What the network says of a registration, in this skill's words. The rest are as they are. */
const WORDS = {
  INVALID_INPUT: 'INVALID_PROFILE',
  UNAVAILABLE: 'REGISTRATION_FAILED',
  RATE_LIMITED: 'REGISTRATION_FAILED',
  LIMIT_REACHED: 'REGISTRATION_FAILED',
  AGENT_NOT_FOUND: 'REGISTRATION_FAILED',
  CONCURRENCY_ERROR: 'REGISTRATION_FAILED',
  INVALID_STATE_TRANSITION: 'REGISTRATION_FAILED',
} as const satisfies Partial<Record<RegistryCode, string>>

const wordFor = (code: RegistryCode) =>
  Object.hasOwn(WORDS, code) ? WORDS[code as keyof typeof WORDS] : (code as Untranslated)

type Untranslated = Exclude<RegistryCode, keyof typeof WORDS>

export function registerOpenclawProfile(options: RegistrySkillOptions) {
  const { registry } = options
  return defineSkill({
    ...contracted(CONTRACT, options),
    provider: registry.name,
    run: async ({ agent_profile: profile }, { signal, failure }) => {
      try {
        return await registry.register(profile, signal)
      } catch (cause) {
        if (!(cause instanceof RegistryFailure)) throw cause
        const { code, message: detail, retryAfterMs } = cause
        const wait = retryAfterMs !== undefined && { retryAfter: retryAfterMs }
        throw failure(wordFor(code), { cause, detail, ...wait })
      }
    },
    // R2.
    recover: ({ ending, code }): RegisterOpenclawProfileOutput | undefined => {
      if (ending !== 'warn') return undefined
      const warning =
        code === 'NETWORK_ERROR'
          ? 'The network could not be reached: the profile is not registered. Try again later.'
          : 'The network did not take the profile: it is not registered. Try again later.'
      return { registered: false, warning }
    },
  })
}
