/**
 * What the ledger writes most costs less: names are compared byte by byte, and one index serves
 * for two.
 *
 * A server compares text by the rules of some language, if it was made so, at many times the cost;
 * and an index in such an order is void when a new version of the system's library sorts
 * differently. Names need an order, but no language.
 *
 * Seals no longer refer to their facts by a constraint: the sealer reads both in one transaction,
 * and facts are never removed, so that it could never refuse anything.
 *
 * The indexes are made anew, which takes some seconds per million movements, while nobody writes.
 */
import type { Migration } from './migration.ts'

export const speed: Migration = {
  version: 11,
  name: 'speed',
  breaking: false,
  sql: `
DROP INDEX movements_by_task, movements_by_work;

ALTER TABLE accounts ALTER COLUMN owner TYPE text COLLATE "C";
ALTER TABLE movements
  ALTER COLUMN transfer TYPE text COLLATE "C",
  ALTER COLUMN payer TYPE text COLLATE "C",
  ALTER COLUMN payee TYPE text COLLATE "C",
  ALTER COLUMN task TYPE text COLLATE "C";
ALTER TABLE holds
  ALTER COLUMN payer TYPE text COLLATE "C",
  ALTER COLUMN task TYPE text COLLATE "C";

-- A task is settled at most once, whatever else goes wrong. By its task alone a payment is found
-- here too.
CREATE UNIQUE INDEX movements_by_task ON movements (task, payer)
  WHERE kind = 'payment' AND task IS NOT NULL;

ALTER TABLE seals DROP CONSTRAINT seals_fact_id_fkey;
`,
}
