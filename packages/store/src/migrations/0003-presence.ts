/**
 * Presence events (AV-10): append-only, one partition for each day of their receipt.
 *
 * The application may have a day's partition made, by a function of the owner's; only the owner
 * drops one. Triggers on rows are inherited by the partitions, those on TRUNCATE are not.
 */
import { ADVISORY, APPLICATION_ROLE } from '../engine/database.ts'
import type { Migration } from './migration.ts'

export const presence: Migration = {
  version: 3,
  name: 'presence',
  breaking: false,
  sql: `
CREATE TABLE presence_events (
  event_id text NOT NULL,
  agent_id text NOT NULL,
  instance_id text NOT NULL,
  state text NOT NULL,
  capabilities json NOT NULL,
  slots_total bigint NOT NULL,
  slots_free bigint NOT NULL,
  load_cpu double precision NOT NULL,
  load_mem double precision NOT NULL,
  trace_id text NOT NULL,
  signed_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  received_at bigint NOT NULL,
  verification text NOT NULL,
  signature text NOT NULL,
  raw text NOT NULL,
  PRIMARY KEY (received_at, event_id)
) PARTITION BY RANGE (received_at);
CREATE INDEX presence_by_agent ON presence_events (agent_id, received_at);
CREATE INDEX presence_by_instance ON presence_events (instance_id, received_at);

CREATE TRIGGER presence_append_only BEFORE UPDATE OR DELETE ON presence_events
  FOR EACH ROW EXECUTE FUNCTION chimera_append_only();
CREATE TRIGGER presence_no_truncate BEFORE TRUNCATE ON presence_events
  EXECUTE FUNCTION chimera_append_only();

CREATE FUNCTION chimera_presence_day(at_ms bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  day_ms constant bigint := 86400000;
  first_ms constant bigint := at_ms - at_ms % day_ms;
  part constant text :=
    'presence_events_' || to_char(to_timestamp(first_ms / 1000) AT TIME ZONE 'UTC', 'YYYYMMDD');
BEGIN
  PERFORM pg_advisory_xact_lock(${ADVISORY.partition});
  IF to_regclass(part) IS NOT NULL THEN RETURN; END IF;
  EXECUTE format('CREATE TABLE %I PARTITION OF presence_events FOR VALUES FROM (%s) TO (%s)',
    part, first_ms, first_ms + day_ms);
  EXECUTE format('CREATE TRIGGER no_truncate BEFORE TRUNCATE ON %I
    EXECUTE FUNCTION chimera_append_only()', part);
END $$;
REVOKE ALL ON FUNCTION chimera_presence_day(bigint) FROM PUBLIC;

-- Whole days that ended before the time given; answers how many.
CREATE FUNCTION chimera_presence_drop(before_ms bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  last_part constant text := 'presence_events_'
    || to_char(to_timestamp(before_ms / 1000) AT TIME ZONE 'UTC', 'YYYYMMDD');
  part regclass;
  dropped bigint := 0;
BEGIN
  FOR part IN SELECT i.inhrelid::regclass FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'presence_events'::regclass AND c.relname < last_part
  LOOP
    EXECUTE format('DROP TABLE %s', part);
    dropped := dropped + 1;
  END LOOP;
  RETURN dropped;
END $$;
REVOKE ALL ON FUNCTION chimera_presence_drop(bigint) FROM PUBLIC;

GRANT SELECT, INSERT ON presence_events TO ${APPLICATION_ROLE};
GRANT EXECUTE ON FUNCTION chimera_presence_day(bigint) TO ${APPLICATION_ROLE};
`,
}
