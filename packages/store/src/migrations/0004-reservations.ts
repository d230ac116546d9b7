/**
 * Slots that are promised together with credits (P-1), and what a hold says about who hired and
 * until when (CH-10, OC-7).
 *
 * Breaking, since a hub of an earlier version would end a hold and leave its slots taken.
 */
import { APPLICATION_ROLE } from '../engine/database.ts'
import type { Migration } from './migration.ts'

export const reservations: Migration = {
  version: 4,
  name: 'reservations',
  breaking: true,
  sql: `
ALTER TABLE holds ADD COLUMN hirer text, ADD COLUMN deadline bigint;
CREATE INDEX holds_by_payee ON holds (payee);
CREATE INDEX holds_by_task ON holds (task);
CREATE INDEX holds_by_parent ON holds (parent) WHERE parent IS NOT NULL;

CREATE TABLE reservations (
  id text PRIMARY KEY,
  instance text NOT NULL,
  agent text NOT NULL,
  planner text NOT NULL,
  task text NOT NULL,
  slots bigint NOT NULL CHECK (slots > 0),
  lapses_at bigint NOT NULL,
  hold text REFERENCES holds (id),
  stage text NOT NULL,
  because text
) WITH (fillfactor = 70);
-- A planner has one promise for a task, at whatever instance, whoever asks at the same moment.
CREATE UNIQUE INDEX reservations_by_claim ON reservations (planner, task) WHERE stage <> 'ended';
CREATE INDEX reservations_by_instance ON reservations (instance) WHERE stage <> 'ended';
CREATE INDEX reservations_by_end ON reservations (lapses_at) WHERE stage = 'promised';
CREATE INDEX reservations_by_hold ON reservations (hold) WHERE hold IS NOT NULL;

GRANT SELECT, INSERT, UPDATE ON reservations TO ${APPLICATION_ROLE};
`,
}
