/**
 * The skills of a runner, versions side by side (SK-5). The domain says which may stand together,
 * and which one a caller gets.
 */
import type { Skill as Offer } from '@chimera/domain/agent/agent'
import {
  type DeprecationNotice,
  decideOffers,
  readSkillRef,
  resolveSkill,
} from '@chimera/domain/agent/skill-version'
import type { Instant } from '@chimera/domain/ids'
import { type Checks, createChecks } from './checks.ts'
import type { Skill } from './contract.ts'
import { DefinitionError } from './define.ts'
import { type Fault, fault } from './failure.ts'

export type Found =
  | {
      readonly ok: true
      readonly skill: Skill
      readonly checks: Checks
      readonly notice?: DeprecationNotice
    }
  | { readonly ok: false; readonly fault: Fault }

export type Shelf = {
  readonly find: (asked: Skill | string, now: Instant) => Found
  /** Those whose time is not over. */
  readonly offers: (now: Instant) => readonly Offer[]
}

export function createShelf(skills: readonly Skill[]): Shelf {
  const decision = decideOffers(skills)
  if (!decision.ok) {
    const { figures = {} } = decision.particulars
    const expected = 'one to a hundred skills, each version once, at most two majors of one name'
    const issue = { path: 'skills', expected, got: JSON.stringify(figures) }
    throw new DefinitionError('list', [issue])
  }
  const checks = new Map(skills.map((each) => [each, createChecks(each)]))

  return {
    find(asked, now) {
      const text = typeof asked === 'string' ? asked : asked.id
      const ref = readSkillRef(text)
      if (ref === undefined) return { ok: false, fault: fault('SKILL_NOT_FOUND', 'unknown_skill') }
      const exact = skills.filter((each) => typeof asked === 'string' || each === asked)
      const resolved = resolveSkill(exact, ref, now)
      if (!resolved.ok) {
        const { refusal, versions } = resolved
        const unknown = refusal === 'skill_unknown'
        const why = unknown
          ? fault('SKILL_NOT_FOUND', 'unknown_skill')
          : fault('VERSION_UNSUPPORTED', 'unknown_version', { versions })
        return { ok: false, fault: why }
      }
      const { offer: skill, notice } = resolved
      const known = checks.get(skill) ?? createChecks(skill)
      return { ok: true, skill, checks: known, ...(notice && { notice }) }
    },
    offers: (now) =>
      skills
        .filter(({ deprecation }) => deprecation === undefined || now < deprecation.removedAt)
        .map(offerOf),
  }
}

function offerOf(skill: Skill): Offer {
  const { name, version, title, description, priceCents, category, durationMs } = skill
  const { deprecation, needsApproval } = skill
  return {
    name,
    version,
    description,
    priceCents,
    input: { ...skill.input },
    output: { ...skill.output },
    needsApproval,
    ...(title !== undefined && { title }),
    ...(category !== undefined && { category }),
    ...(durationMs !== undefined && { durationMs }),
    ...(deprecation !== undefined && { deprecation }),
  }
}
