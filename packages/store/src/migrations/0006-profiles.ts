/**
 * Records of agents, which others update under a version (SK-12), and the keys that the hub itself
 * has signed with (P-15).
 *
 * A recovery that is under way is found by the time at which it takes effect.
 */
import { APPLICATION_ROLE } from '../engine/database.ts'
import type { Migration } from './migration.ts'

export const profiles: Migration = {
  version: 6,
  name: 'profiles',
  breaking: false,
  sql: `
CREATE TABLE agent_records (
  agent text PRIMARY KEY REFERENCES agents (id),
  version bigint NOT NULL,
  record json NOT NULL
);

CREATE TABLE hub_keys (
  key text PRIMARY KEY,
  public_key text NOT NULL,
  since bigint NOT NULL,
  until bigint
);
-- One key at a time speaks for the hub, whoever starts at the same moment.
CREATE UNIQUE INDEX hub_keys_present ON hub_keys ((until IS NULL)) WHERE until IS NULL;

CREATE INDEX agents_by_recovery
  ON agents (((agent -> 'keys' -> 'recovery' ->> 'takesEffectAt')::bigint))
  WHERE (agent -> 'keys' -> 'recovery' ->> 'takesEffectAt') IS NOT NULL;

GRANT SELECT, INSERT, UPDATE ON agent_records, hub_keys TO ${APPLICATION_ROLE};
`,
}
