/**
 * One order for whoever follows presence posts and sealed facts together: each row knows the
 * transaction that wrote it. Below the oldest transaction still running nothing new appears, so a
 * reader that stays below it skips no late commit (sealer.ts has the same for facts).
 *
 * Seals are written by one sealer at a time, so their transactions rise with their numbers. What
 * was there before counts as written first. A hub of an earlier version names every column of a
 * post, the new one as absent; the trigger fills it in, so nothing breaks.
 */
import { APPLICATION_ROLE } from '../engine/database.ts'
import type { Migration } from './migration.ts'

export const presenceOrder: Migration = {
  version: 12,
  name: 'presence-order',
  breaking: false,
  sql: `
ALTER TABLE seals ADD COLUMN tx bigint NOT NULL DEFAULT 0;
ALTER TABLE seals ALTER COLUMN tx SET DEFAULT (pg_current_xact_id()::text::bigint);

ALTER TABLE presence_events ADD COLUMN tx bigint NOT NULL DEFAULT 0;
ALTER TABLE presence_events ALTER COLUMN tx SET DEFAULT (pg_current_xact_id()::text::bigint);
CREATE INDEX presence_by_tx ON presence_events (tx, event_id COLLATE "C");

CREATE FUNCTION chimera_presence_tx() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.tx := pg_current_xact_id()::text::bigint;
  RETURN NEW;
END $$;
CREATE TRIGGER presence_tx BEFORE INSERT ON presence_events
  FOR EACH ROW WHEN (NEW.tx IS NULL) EXECUTE FUNCTION chimera_presence_tx();

-- The highest transaction with a post in a day that was dropped: who resumes from before it has
-- missed something, perhaps.
CREATE TABLE presence_dropped (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  tx bigint NOT NULL
);
INSERT INTO presence_dropped (tx) VALUES (-1);
GRANT SELECT ON presence_dropped TO ${APPLICATION_ROLE};

CREATE OR REPLACE FUNCTION chimera_presence_drop(before_ms bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  last_part constant text := 'presence_events_'
    || to_char(to_timestamp(before_ms / 1000) AT TIME ZONE 'UTC', 'YYYYMMDD');
  part regclass;
  last_tx bigint;
  dropped bigint := 0;
BEGIN
  FOR part IN SELECT i.inhrelid::regclass FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'presence_events'::regclass AND c.relname < last_part
  LOOP
    EXECUTE format('SELECT coalesce(max(tx), -1) FROM %s', part) INTO last_tx;
    UPDATE presence_dropped SET tx = greatest(tx, last_tx);
    EXECUTE format('DROP TABLE %s', part);
    dropped := dropped + 1;
  END LOOP;
  RETURN dropped;
END $$;
`,
}
