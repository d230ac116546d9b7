/** What a skill is by its contract (SK-1), for whoever adds what it does. */
import type { SkillContract } from '@chimera/dialects/skills/contracts'
import type { SkillId } from '@chimera/dialects/skills/error-codes'
import type { TSchema } from 'typebox'

export type Priced = {
  /** Credits for one call. Free unless given. */
  readonly price?: number
}

export function contracted<Id extends SkillId, Input extends TSchema, Output extends TSchema>(
  contract: SkillContract<Id, Input, Output>,
  { price = 0 }: Priced,
) {
  const { name, version, purpose, category, input, output, timeoutMs, errors, codes } = contract
  return {
    name,
    version: `${version.major}.${version.minor}`,
    description: purpose,
    price,
    ...(category && { category }),
    input,
    output,
    timeout: timeoutMs,
    errors,
    codes,
  }
}
