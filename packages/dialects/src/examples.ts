/**
 * One message of each kind that a caller begins with, as documentation shows it. A test reads each
 * of them with the reader of its message.
 */
const AGENT = 'a3b8d1b6-0b3b-4b1a-9c1a-1a2b3c4d5e6f'
const CORRELATION = '770e8400-e29b-41d4-a716-446655440002'

export const EXAMPLES: Readonly<Partial<Record<string, object>>> = {
  'chorus/registration': {
    agent_id: AGENT,
    agent_name: 'Word counter',
    owner_id: 'ann',
    api_endpoint: 'https://counter.example.org/jobs',
    skills: [
      {
        skill_name: 'count_words',
        description: 'Counts the words of a text',
        cost_per_call: 0.1,
        input_schema: { text: 'string' },
        output_schema: { words: 'integer' },
      },
    ],
    version: '0.1',
  },
  'chorus/heartbeat': { agent_id: AGENT },
  'chorus/account-opening': { owner_id: 'bob' },
  'chorus/transfer': {
    transfer_id: '0b1f2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d',
    from_owner: 'bob',
    to_owner: 'ann',
    amount: 0.1,
    job_id: 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6',
    timestamp_utc: '2026-02-11T14:15:09Z',
  },
  'chimera/new-hold': {
    agent_id: AGENT,
    task_id: 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6',
    amount: 0.1,
    expires_at: '2027-02-06T12:00:00Z',
  },
  'feed/status': {
    schema_version: 'openclaw-status.v1',
    message_id: 'b6f9e3f8-2d3a-4e6a-9f12-0d3a1b2c3d4e',
    agent_id: 'planner-1',
    status: 'AVAILABLE',
    capabilities: ['trend_analysis'],
    last_updated: '2026-02-06T12:00:00Z',
    uptime_s: 3600,
  },
  'openclaw/status-update': {
    agent_id: AGENT,
    status_update: {
      current_status: 'busy',
      status_timestamp: '2026-02-06T16:10:00Z',
      status_details: { active_tasks: 3 },
      previous_status: 'idle',
    },
    correlation_id: CORRELATION,
    timestamp: '2026-02-06T16:10:00Z',
  },
  'openclaw/reputation-update': {
    agent_id: AGENT,
    reputation_update: {
      update_type: 'periodic_update',
      reputation_score: 0.92,
      update_timestamp: '2026-02-06T16:10:00Z',
    },
    correlation_id: CORRELATION,
    timestamp: '2026-02-06T16:10:00Z',
  },
  'chimera/new-owner': { owner_id: 'ann', scopes: ['agents', 'read'] },
  'chimera/new-token': { expires_at: '2026-12-31T00:00:00Z', spending_cap: 25 },
  'chimera/new-session': { ttl_seconds: 300 },
  'chimera/result-batch': { results: [{}] },
  'chimera/new-pass': { agent_id: '550e8400-e29b-41d4-a716-446655440000' },
}
