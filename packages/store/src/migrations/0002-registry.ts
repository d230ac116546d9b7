/**
 * Who is on the network: owners and their tokens, agents with their keys and aliases.
 *
 * An agent's row holds what the domain calls an agent, as a value; the columns beside it are those
 * that the database itself looks at. Keys and aliases have tables of their own, since each belongs
 * to one agent only, whoever asks at the same moment.
 */
import { APPLICATION_ROLE } from '../engine/database.ts'
import type { Migration } from './migration.ts'

export const registry: Migration = {
  version: 2,
  name: 'registry',
  breaking: false,
  sql: `
CREATE TABLE owners (
  id text PRIMARY KEY,
  known_since bigint NOT NULL
);

CREATE TABLE agents (
  id text PRIMARY KEY,
  owner text NOT NULL REFERENCES owners (id),
  removed_at bigint,
  agent json NOT NULL
);
CREATE INDEX agents_by_owner ON agents (owner);

CREATE TABLE agent_keys (
  key text PRIMARY KEY,
  agent text NOT NULL REFERENCES agents (id)
);

CREATE TABLE aliases (
  alias text PRIMARY KEY,
  agent text NOT NULL REFERENCES agents (id)
);

-- Only digests are kept: a copy of this table opens no door.
CREATE TABLE tokens (
  digest text PRIMARY KEY,
  id text NOT NULL UNIQUE,
  kind text NOT NULL,
  owner text,
  scopes json NOT NULL,
  issued_at bigint NOT NULL,
  expires_at bigint,
  revoked_at bigint,
  cap_cents bigint,
  spent_cents bigint NOT NULL
);
CREATE INDEX tokens_by_owner ON tokens (owner);

GRANT SELECT, INSERT ON owners, agent_keys, aliases TO ${APPLICATION_ROLE};
GRANT SELECT, INSERT, UPDATE ON agents, tokens TO ${APPLICATION_ROLE};
`,
}
