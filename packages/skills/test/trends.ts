/** A trend that nothing is wrong with, under any topic. */
import type { TrendData } from '@chimera/dialects/skills/trend'

export function trend(topic: string, at = 0): TrendData {
  return {
    trend_id: `8b3f5a7e-4a2c-4daf-9f89-${String(at).padStart(12, '0')}`,
    topic,
    platform: 'news',
    sentiment: 'neutral',
    timestamp: '2026-01-01T00:00:00Z',
    engagement: { likes: 1, comments: 1, shares: 1, impressions: 10, engagement_score: 6 },
    trend_velocity: 1,
    decay_score: 1,
  }
}
