/**
 * Approvals that the hub has signed, each with the receipt of its use. The token itself is nowhere
 * here: it was in the answer that gave it.
 */
import { APPLICATION_ROLE } from '../engine/database.ts'
import type { Migration } from './migration.ts'

export const approvals: Migration = {
  version: 17,
  name: 'approvals',
  breaking: false,
  sql: `
CREATE TABLE approvals (
  id text PRIMARY KEY,
  owner text NOT NULL,
  reviewer text NOT NULL,
  -- The credential that it was given with.
  given_by text NOT NULL,
  content text NOT NULL,
  bytes text NOT NULL,
  platform text NOT NULL,
  scheduled_at bigint,
  approved_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  used_at bigint,
  use_name text,
  -- As it was signed.
  receipt json,
  CHECK ((used_at IS NULL) = (use_name IS NULL) AND (used_at IS NULL) = (receipt IS NULL))
);
CREATE INDEX approvals_owner ON approvals (owner, approved_at DESC, id DESC);

GRANT SELECT, INSERT, UPDATE ON approvals TO ${APPLICATION_ROLE};
`,
}
