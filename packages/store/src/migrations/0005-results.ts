/**
 * Results of work (OC-17). The content can be deleted, and is after a while; what names the result
 * and says how it ended stays, with the digest that the trail has too.
 *
 * `settle_at` is when its hold is to be settled (again); absent when there is nothing left to do.
 */
import { APPLICATION_ROLE } from '../engine/database.ts'
import type { Migration } from './migration.ts'

export const results: Migration = {
  version: 5,
  name: 'results',
  breaking: false,
  sql: `
CREATE TABLE results (
  agent text NOT NULL,
  work text NOT NULL,
  task text NOT NULL,
  owner text NOT NULL,
  requester text,
  how text NOT NULL,
  ended_at bigint NOT NULL,
  recorded_at bigint NOT NULL,
  content text NOT NULL,
  output text,
  correlation text NOT NULL,
  transfer text NOT NULL,
  hold text,
  settle_at bigint,
  report json,
  PRIMARY KEY (agent, work)
) WITH (fillfactor = 80);
CREATE INDEX results_by_agent ON results (agent, recorded_at, work);
CREATE INDEX results_by_task ON results (task);
CREATE INDEX results_by_work ON results (work);
CREATE INDEX results_unsettled ON results (settle_at) WHERE settle_at IS NOT NULL;
CREATE INDEX results_with_content ON results (recorded_at) WHERE report IS NOT NULL;
CREATE INDEX reservations_by_task ON reservations (task);

GRANT SELECT, INSERT, UPDATE ON results TO ${APPLICATION_ROLE};
`,
}
