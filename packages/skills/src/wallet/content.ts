/** All that was asked for with a debit, as one hash: another under the same key is a conflict. */
import type { DebitAsked } from '@chimera/dialects/skills/decode'
import type { Digest } from '@chimera/domain/ids'
import { digestOf } from '@chimera/skill/digest'

export function contentOf({ wallet, currency, network, units, description }: DebitAsked): Digest {
  return digestOf({ wallet, currency, network, units: units.toString(), description })
}
