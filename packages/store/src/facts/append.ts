/**
 * Writing facts, in the transaction of the rows that they changed (A3).
 *
 * Their place in the chain is given later (sealer.ts), so that writers never wait for each other
 * here. Within a transaction they keep their order.
 */
import type { Recorded } from '@chimera/domain/audit'
import type { Queries } from '../engine/database.ts'
import { Failure } from '../failure.ts'
import { storableText } from '../storable.ts'

const INSERT = `
  INSERT INTO facts (fact, recorded_at, correlation)
  SELECT entry -> 'fact', (entry ->> 'recordedAt')::bigint, entry ->> 'correlation'
  FROM json_array_elements($1::json) WITH ORDINALITY AS list (entry, place)
  ORDER BY place`

export async function appendFacts(
  tx: Queries,
  recorded: readonly Recorded<unknown>[],
): Promise<void> {
  if (recorded.length === 0) return
  const text = storableText(recorded)
  // A fact that cannot be sealed would stop the chain for everybody, for ever.
  if (text === undefined) throw new Failure('fact_unstorable', 'a character that cannot be kept')
  await tx.query(INSERT, [text])
}
