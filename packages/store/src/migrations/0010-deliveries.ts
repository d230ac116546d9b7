/**
 * What is to be brought to others: messages with their attempts, those that could not be brought,
 * the alerts of the hub and the webhooks that are told of them.
 *
 * A message that was delivered is gone from here; its sender knows what it was about.
 */
import { APPLICATION_ROLE } from '../engine/database.ts'
import type { Migration } from './migration.ts'

export const deliveries: Migration = {
  version: 10,
  name: 'deliveries',
  breaking: false,
  sql: `
CREATE TABLE deliveries (
  id text PRIMARY KEY,
  target text NOT NULL,
  host text NOT NULL,
  body text NOT NULL,
  about_kind text NOT NULL,
  about_id text NOT NULL,
  owner text,
  correlation text NOT NULL,
  traceparent text,
  enqueued_at bigint NOT NULL,
  attempts bigint NOT NULL DEFAULT 0,
  -- While it is claimed: when the claim comes back.
  due_at bigint NOT NULL,
  claim text,
  died_at bigint,
  tried_at bigint,
  trouble text,
  status bigint
) WITH (fillfactor = 70);
CREATE INDEX deliveries_by_due ON deliveries (due_at) WHERE died_at IS NULL;
CREATE INDEX deliveries_by_host ON deliveries (host, due_at) WHERE died_at IS NULL;
CREATE INDEX deliveries_by_target ON deliveries (target) WHERE died_at IS NULL;
CREATE INDEX letters_by_owner ON deliveries (owner, died_at, id) WHERE died_at IS NOT NULL;
CREATE INDEX letters_by_death ON deliveries (died_at, id) WHERE died_at IS NOT NULL;

CREATE TABLE alerts (
  id text PRIMARY KEY,
  kind text NOT NULL,
  subject text NOT NULL,
  severity text NOT NULL,
  words text NOT NULL,
  raised_at bigint NOT NULL,
  seen_at bigint NOT NULL,
  count bigint NOT NULL,
  acknowledged_at bigint,
  acknowledged_by text,
  cleared_at bigint
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX alerts_standing ON alerts (kind, subject) WHERE cleared_at IS NULL;
CREATE INDEX alerts_by_time ON alerts (raised_at, id);

-- The address may hold a secret of its receiver, so it is in no fact.
CREATE TABLE webhooks (
  id text PRIMARY KEY,
  url text NOT NULL UNIQUE,
  kinds json,
  made_at bigint NOT NULL
);

GRANT SELECT, INSERT, UPDATE, DELETE ON deliveries, alerts, webhooks TO ${APPLICATION_ROLE};
`,
}
