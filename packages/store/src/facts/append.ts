/**
 * Writing facts, in the transaction of the rows that they changed (A3).
 *
 * Their place in the chain is given later (sealer.ts), so that writers never wait for each other
 * here. Within a transaction they keep their order.
 */
import type { Recorded } from '@chimera/domain/audit'
import { arrayText } from '../columns.ts'
import type { Queries } from '../engine/database.ts'
import { Failure } from '../failure.ts'
import { isKept, isStorable } from '../storable.ts'

// JSON on one line has no line break in it, so that lines need no quoting; a list of JSON values
// would be taken apart, and each put together again, which takes twice as long.
const INSERT = `
  INSERT INTO facts (fact, recorded_at, correlation)
  SELECT fact::json, recorded_at, correlation
  FROM unnest(string_to_array($1, E'\\n'), $2::bigint[], $3::text[])
    WITH ORDINALITY AS list (fact, recorded_at, correlation, place)
  ORDER BY place`

export async function appendFacts(
  tx: Queries,
  recorded: readonly Recorded<unknown>[],
): Promise<void> {
  if (recorded.length === 0) return
  const facts = recorded.map(({ fact }) => JSON.stringify(fact)).join('\n')
  const correlations = recorded.map(({ correlation }) => correlation)
  // A fact that cannot be sealed would stop the chain for everybody, for ever.
  if (!isKept(facts) || !isStorable(correlations)) {
    throw new Failure('fact_unstorable', 'a character that cannot be kept')
  }
  const times = recorded.map(({ recordedAt }) => recordedAt)
  await tx.query(INSERT, [facts, arrayText(times), arrayText(correlations)])
}
