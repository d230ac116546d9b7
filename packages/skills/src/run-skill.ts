/**
 * `runSkill`: one call of one of the ten skills, with no hub, no agent and no database. Defaults
 * are filled in, the input is checked, and the runner does the rest; a call always answers.
 */
import { SKILLS, type SkillInput, type SkillOutput } from '@chimera/dialects/skills/contracts'
import type { SkillId } from '@chimera/dialects/skills/error-codes'
import type { CallOptions, CallOutcome, RunnerEvent } from '@chimera/skill/calls'
import { createRunner } from '@chimera/skill/runner'
import type { LogLine } from '@chimera/skill/trying'
import { isSkillName } from './catalogue.ts'
import { openSkills } from './providers/open.ts'
import type { SkillHands } from './providers/resources.ts'
import type { ProviderSettings } from './providers/settings.ts'

export type RunSkillOptions = SkillHands &
  CallOptions & {
    /** What stands behind the skills: nothing but this machine unless given. */
    readonly providers?: ProviderSettings
    /** Hears what an operator wants to know. */
    readonly watch?: (event: RunnerEvent) => void
    /** Takes what the skill logs. */
    readonly log?: (line: LogLine) => void
  }

/** Throws for a name that is none and for settings that make no sense, before anything is run. */
export async function runSkill<Id extends SkillId>(
  name: Id,
  input: SkillInput<Id>,
  options: RunSkillOptions = {},
): Promise<CallOutcome<SkillOutput<Id>>> {
  if (!isSkillName(name)) {
    throw new TypeError(`name: expected one of ${Object.keys(SKILLS).join(', ')}`)
  }
  const {
    providers = {},
    watch,
    log,
    clock,
    chance,
    environment,
    directory,
    onUse,
    ...call
  } = options
  const hands = {
    ...(clock && { clock }),
    ...(chance && { chance }),
    ...(environment && { environment }),
    ...(directory !== undefined && { directory }),
    ...(onUse && { onUse }),
  }
  const opened = await openSkills(providers, { ...hands, only: [name], ready: true })
  const [skill] = opened.skills
  const runner = createRunner({
    skills: opened.skills,
    ...(clock && { clock }),
    ...(chance && { chance }),
    ...(watch && { watch }),
    ...(log && { log }),
  })
  try {
    if (skill === undefined) throw new Error(`${name} was not opened`)
    const outcome = await runner.run(skill.id, input, call)
    // The runner has held the output to the schema of the skill.
    return outcome as CallOutcome<SkillOutput<Id>>
  } finally {
    await runner.close()
    await opened.close()
  }
}
