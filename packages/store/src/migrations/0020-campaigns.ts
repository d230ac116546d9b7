/**
 * Campaigns as their orchestrators tell of them, and reviews: what lies before a person, and what
 * the person said of it.
 */
import { APPLICATION_ROLE } from '../engine/database.ts'
import type { Migration } from './migration.ts'

export const campaigns: Migration = {
  version: 20,
  name: 'campaigns',
  breaking: false,
  sql: `
CREATE TABLE campaigns (
  id text PRIMARY KEY,
  owner text NOT NULL,
  agent text NOT NULL,
  version bigint NOT NULL,
  status text NOT NULL,
  updated_at bigint NOT NULL,
  -- As it was told.
  record json NOT NULL,
  -- What a person wants of it.
  wish text
);
CREATE INDEX campaigns_owner ON campaigns (owner, updated_at DESC, id DESC);

CREATE TABLE reviews (
  id text PRIMARY KEY,
  owner text NOT NULL,
  agent text NOT NULL,
  campaign text,
  content text NOT NULL,
  bytes text NOT NULL,
  platform text NOT NULL,
  scheduled_at bigint,
  opened_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  -- What the person sees.
  shown json NOT NULL,
  answer json,
  -- The content as edited, where somebody did.
  edited json
);
CREATE INDEX reviews_owner ON reviews (owner, opened_at DESC, id DESC);
CREATE INDEX reviews_pending ON reviews (owner, expires_at) WHERE answer IS NULL;

GRANT SELECT, INSERT, UPDATE ON campaigns, reviews TO ${APPLICATION_ROLE};
`,
}
