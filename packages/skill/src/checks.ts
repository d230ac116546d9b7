/**
 * What comes in and what goes out, held to the skill's schemas: by the very check that strangers
 * will use on the published schema, and then by the author's own rules between fields.
 */
import type { Issue } from '@chimera/domain/decision'
import { LIMITS } from '@chimera/domain/limits'
import type { TSchema } from 'typebox'
import type { CrossCheck, Skill } from './contract.ts'
import { compileForeignSchema, type ForeignCheck } from './foreign-schema.ts'

export type Checks = { readonly input: ForeignCheck; readonly output: ForeignCheck }

export function createChecks({ input, output, check }: Skill): Checks {
  return { input: checkBy(input, check.input), output: checkBy(output, check.output) }
}

/** Made ready on first use: some take a tenth of a second, and not every skill is called. */
function checkBy(schema: TSchema, cross: CrossCheck = () => []): ForeignCheck {
  let fits: ForeignCheck | undefined
  return (value) => {
    fits ??= compile(schema)
    const issues = fits(value)
    return issues.length > 0 ? issues : cross(value).slice(0, LIMITS.issues)
  }
}

function compile(schema: TSchema): ForeignCheck {
  const ready = compileForeignSchema({ ...schema })
  return ready.ok ? ready.check : () => ready.issues
}

/** Which of a skill's codes says that its input is wrong: the word for the part that is. */
export function inputCode({ codes }: Pick<Skill, 'codes'>, issues: readonly Issue[]): string {
  const found = codes.input.find(([part]) =>
    issues.some(({ path }) => path === part || path.startsWith(`${part}/`)),
  )
  return found?.[1] ?? 'INVALID_INPUT'
}
