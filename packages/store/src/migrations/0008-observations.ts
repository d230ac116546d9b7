/**
 * What others have said last, aliases that credentials hold, and which token was made with which.
 *
 * An observation is one row per kind and subject, the latest by its sender's time. `about` groups
 * the rows that are bounded and forgotten together. An alias has one holder: an agent, or a
 * credential by its name.
 */
import { APPLICATION_ROLE } from '../engine/database.ts'
import type { Migration } from './migration.ts'

export const observations: Migration = {
  version: 8,
  name: 'observations',
  breaking: false,
  sql: `
CREATE TABLE observations (
  kind text NOT NULL,
  subject text NOT NULL,
  about text NOT NULL,
  at bigint NOT NULL,
  heard_at bigint NOT NULL,
  body json NOT NULL,
  PRIMARY KEY (kind, subject)
) WITH (fillfactor = 70);
CREATE INDEX observations_about ON observations (about);

ALTER TABLE aliases ALTER COLUMN agent DROP NOT NULL;
ALTER TABLE aliases ADD COLUMN subject text;
ALTER TABLE aliases ADD CHECK ((agent IS NULL) <> (subject IS NULL));
CREATE INDEX aliases_by_subject ON aliases (subject) WHERE subject IS NOT NULL;

-- The id of the token that this one was made with.
ALTER TABLE tokens ADD COLUMN parent text;
CREATE INDEX tokens_by_parent ON tokens (parent) WHERE parent IS NOT NULL;

GRANT SELECT, INSERT, UPDATE, DELETE ON observations TO ${APPLICATION_ROLE};
`,
}
