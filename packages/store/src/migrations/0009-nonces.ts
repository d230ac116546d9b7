/**
 * Nonces of signed requests, so that a request that one hub has taken is a replay at every
 * hub of the same database, and after a restart. Each is kept for two minutes and then deleted.
 */
import { APPLICATION_ROLE } from '../engine/database.ts'
import type { Migration } from './migration.ts'

export const nonces: Migration = {
  version: 9,
  name: 'nonces',
  breaking: false,
  sql: `
CREATE TABLE nonces (
  key text NOT NULL,
  nonce text NOT NULL,
  lapses_at bigint NOT NULL,
  PRIMARY KEY (key, nonce)
);
CREATE INDEX nonces_by_end ON nonces (lapses_at);

GRANT SELECT, INSERT, UPDATE, DELETE ON nonces TO ${APPLICATION_ROLE};
`,
}
