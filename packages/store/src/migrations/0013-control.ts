/**
 * Orders of operators to agents, each with the signed message as it was given, and who has obeyed.
 *
 * An order is kept for as long as any order may hold: until then it may be what replaced another.
 */
import { APPLICATION_ROLE } from '../engine/database.ts'
import type { Migration } from './migration.ts'

export const control: Migration = {
  version: 13,
  name: 'control',
  breaking: false,
  sql: `
CREATE TABLE control_orders (
  id text PRIMARY KEY,
  sequence bigint NOT NULL UNIQUE,
  lever text NOT NULL,
  to_kind text NOT NULL,
  -- The agent or the owner; empty where it is to all.
  to_id text NOT NULL,
  issued_at bigint NOT NULL,
  given json NOT NULL,
  message json NOT NULL
);
CREATE INDEX control_orders_by_addressee ON control_orders (to_kind, to_id, lever, sequence DESC);
CREATE INDEX control_orders_by_time ON control_orders (issued_at);

CREATE TABLE control_seen (
  id text NOT NULL,
  agent text NOT NULL,
  seen_at bigint NOT NULL,
  PRIMARY KEY (id, agent)
);

GRANT SELECT, INSERT, DELETE ON control_orders, control_seen TO ${APPLICATION_ROLE};
`,
}
