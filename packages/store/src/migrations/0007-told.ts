/**
 * What was told of reputations (OC-9): of each agent when it last was, and with which fact of the
 * chain. Several hubs on one database tell each thing once, and a restart tells nothing again.
 */
import { APPLICATION_ROLE } from '../engine/database.ts'
import type { Migration } from './migration.ts'

export const told: Migration = {
  version: 7,
  name: 'told',
  breaking: false,
  sql: `
CREATE TABLE told_agents (
  agent text PRIMARY KEY,
  told_at bigint NOT NULL,
  told_seq bigint NOT NULL
) WITH (fillfactor = 70);
CREATE INDEX told_agents_by_seq ON told_agents (told_seq);

-- What was settled before there was anybody to tell it is not told afterwards.
INSERT INTO told_agents
SELECT id, (agent->>'registeredAt')::bigint, (SELECT coalesce(max(seq), 0) FROM seals) FROM agents;

GRANT SELECT, INSERT, UPDATE ON told_agents TO ${APPLICATION_ROLE};
`,
}
