/**
 * The posts of the hub's outbox, and the publications that publishing agents plan: what is to be
 * published when, by whom at the moment, and what came of it.
 *
 * A publication that is over is looked up by its key only, so what is asked over and over again has
 * an index of those that still wait.
 */
import { APPLICATION_ROLE } from '../engine/database.ts'
import type { Migration } from './migration.ts'

export const posts: Migration = {
  version: 18,
  name: 'posts',
  breaking: false,
  sql: `
CREATE TABLE posts (
  id text PRIMARY KEY,
  owner text NOT NULL,
  content text NOT NULL,
  platform text NOT NULL,
  bytes text NOT NULL,
  approval text NOT NULL,
  reviewer text NOT NULL,
  scheduled_at bigint,
  accepted_at bigint NOT NULL,
  out_at bigint NOT NULL,
  -- What is shown, as JSON text.
  shown text NOT NULL,
  UNIQUE (owner, content, platform)
);
CREATE INDEX posts_owner ON posts (owner, out_at DESC, id DESC);

CREATE TABLE publications (
  -- Whose plan it is: an agent, or a whole fleet of them.
  planner text NOT NULL,
  key text NOT NULL,
  version bigint NOT NULL,
  -- When somebody must look at it; never again where it is absent.
  wake_at bigint,
  -- JSON as text: a column of type json would refuse characters that content may have.
  kept text NOT NULL,
  PRIMARY KEY (planner, key)
);
CREATE INDEX publications_due ON publications (planner, wake_at) WHERE wake_at IS NOT NULL;

GRANT SELECT, INSERT ON posts TO ${APPLICATION_ROLE};
GRANT SELECT, INSERT, UPDATE ON publications TO ${APPLICATION_ROLE};
`,
}
