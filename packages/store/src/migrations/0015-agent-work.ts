/**
 * The work that agents keep, and which instance of an agent has it in hand. A row is found by its
 * columns; what it says is one text that nobody looks into here.
 *
 * Work that is over is looked up by its names only, so whatever is asked over and over again has
 * an index of the unfinished alone.
 */
import { APPLICATION_ROLE } from '../engine/database.ts'
import type { Migration } from './migration.ts'

export const agentWork: Migration = {
  version: 15,
  name: 'agent-work',
  breaking: false,
  sql: `
CREATE TABLE agent_work (
  agent text NOT NULL,
  -- Requester, responder and key.
  scope text NOT NULL,
  work text NOT NULL,
  task text NOT NULL,
  requester text NOT NULL,
  asked_at bigint NOT NULL,
  stage text NOT NULL CHECK (stage IN ('slot', 'person', 'begun', 'telling', 'over')),
  -- It was turned away for something that may pass: the same ask may take its place.
  again boolean NOT NULL,
  -- Somebody could not be told of it.
  lost boolean NOT NULL,
  changed_at bigint NOT NULL,
  forget_at bigint,
  -- The instance that has it in hand, and how often it has changed hands.
  holder text,
  turn bigint NOT NULL,
  cancel_wished boolean NOT NULL,
  -- JSON as text: a column of type json would refuse characters that an input may have.
  kept text NOT NULL,
  PRIMARY KEY (agent, scope),
  UNIQUE (agent, work)
);
CREATE INDEX agent_work_task ON agent_work (agent, task);
CREATE INDEX agent_work_unfinished ON agent_work (agent, asked_at, work) WHERE stage <> 'over';
CREATE INDEX agent_work_lost ON agent_work (agent, asked_at, work) WHERE lost;
CREATE INDEX agent_work_forget ON agent_work (forget_at) WHERE stage = 'over';

CREATE TABLE agent_instances (
  holder text PRIMARY KEY,
  agent text NOT NULL,
  lease_until bigint NOT NULL
);

GRANT SELECT, INSERT, UPDATE, DELETE ON agent_work, agent_instances TO ${APPLICATION_ROLE};
`,
}
