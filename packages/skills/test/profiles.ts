/** An agent's profile as its author writes it. */
import type { AgentProfile } from '@chimera/dialects/skills/profile'

export const agentProfile = (more: Partial<AgentProfile> = {}): AgentProfile => ({
  agent_id: '0b1f8f0e-6d0d-4f0e-9a57-3d1f5f3c2a10',
  name: 'Trend watcher',
  type: 'trend_analyst',
  capabilities: ['trend_analysis'],
  availability: 'active',
  status: 'active',
  pending_tasks: 0,
  reputation_score: 0.5,
  uptime_24h: 100,
  last_heartbeat: '2026-01-01T00:00:00Z',
  version: 1,
  ...more,
})
