/** A skill that says what was thrown in it, before the runner makes a code of it. */
import type { Skill } from '@chimera/skill/contract'

export function telltale(skill: Skill, say: (error: unknown) => void): Skill {
  const { work } = skill
  // What runs in a thread throws there, and only its message comes back.
  if (work.is !== 'function') return skill
  return {
    ...skill,
    work: {
      ...work,
      run: async (input, context) => {
        try {
          return await work.run(input, context)
        } catch (error) {
          if (!isForeseen(error, context.signal)) say(error)
          throw error
        }
      },
    },
  }
}

/** A failure with a code is the skill's own answer, and so is giving up when told to. */
const isForeseen = (error: unknown, signal: AbortSignal): boolean =>
  signal.aborted || (error instanceof Error && error.name === 'SkillFailure')
