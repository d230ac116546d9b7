/**
 * How often callers have asked all hubs together in the last minute, and what hubs have ahead of
 * their limits. A row is kept for at most two minutes and then deleted.
 *
 * Rows are rewritten often and in place: no column that changes has an index, and half of each page
 * is left free for it.
 */
import { APPLICATION_ROLE } from '../engine/database.ts'
import type { Migration } from './migration.ts'

export const allowances: Migration = {
  version: 14,
  name: 'allowances',
  breaking: false,
  sql: `
CREATE TABLE allowances (
  -- A digest: who asks is nobody's to read here.
  caller text PRIMARY KEY,
  at bigint NOT NULL,
  -- Pairs of a second and a count, the oldest first.
  counts json NOT NULL,
  lapses_at bigint NOT NULL
) WITH (fillfactor = 50);

GRANT SELECT, INSERT, UPDATE, DELETE ON allowances TO ${APPLICATION_ROLE};
`,
}
