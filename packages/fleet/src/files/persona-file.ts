/**
 * A persona as a person writes it: its own fields, without those that a machine fills in.
 */
import { checker } from '@chimera/dialects/check'
import { Persona } from '@chimera/dialects/skills/persona'
import { writeInstant } from '@chimera/dialects/wire'
import type { Issue } from '@chimera/domain/decision'
import type { Instant } from '@chimera/domain/ids'
import { namedUuid } from '@chimera/skills/named-uuid'

const check = checker(Persona)

export type PersonaRead =
  | { readonly ok: true; readonly persona: Persona }
  | { readonly ok: false; readonly issues: readonly Issue[] }

export function readPersonaFile(
  value: unknown,
  { owner, now }: { readonly owner: string; readonly now: Instant },
): PersonaRead {
  const given: Readonly<Record<string, unknown>> = { ...Object(value) }
  const at = writeInstant(now)
  const filled = {
    agent_id: namedUuid('persona', owner, String(given.name)),
    created_at: at,
    updated_at: at,
    version: 1,
    platform_preferences: { twitter: 1, tiktok: 0.5, instagram: 0.5, youtube: 0.5, linkedin: 0.5 },
    values: { core_values: [] },
    ...given,
  }
  const checked = check(filled)
  return checked.ok
    ? { ok: true, persona: checked.message }
    : { ok: false, issues: checked.particulars.issues ?? [] }
}
