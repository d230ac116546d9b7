/**
 * Trends for a machine without feeds: invented, plainly marked, and moved to the present, so that
 * the product can be tried offline in its first minute.
 *
 *   S1  Every one says that it is a sample: by its hashtag and by an address that leads nowhere.
 *   S2  The same hour has the same samples; an hour later they are older, and the loudest changes.
 */

import { createHash } from 'node:crypto'
import type { TrendData } from '@chimera/dialects/skills/trend'
import type { TrendPlatform } from '@chimera/dialects/skills/words'
import type { Instant } from '@chimera/domain/ids'
import { namedUuid } from '../named-uuid.ts'
import type { TrendSource } from './source.ts'

type Category = NonNullable<NonNullable<TrendData['metadata']>['category']>
type Sample = readonly [topic: string, category: Category, mood: TrendData['sentiment']]

const SAMPLES: Readonly<Record<TrendPlatform, readonly Sample[]>> = {
  twitter: [
    ['Night trains are fully booked for the summer', 'news', 'positive'],
    ['A keyboard without a single label divides developers', 'technology', 'mixed'],
    ['Handwoven cotton from Addis Ababa on the big runways', 'fashion', 'positive'],
    ['City closes its main street to cars on Sundays', 'news', 'mixed'],
    ['Open-weight language model runs on a pocket computer', 'technology', 'positive'],
    ['Second-hand shops report queues around the block', 'fashion', 'positive'],
    ['A silent film sells out small cinemas', 'entertainment', 'positive'],
    ['Neighbours turn a parking lot into a garden', 'other', 'positive'],
  ],
  news: [
    ['Harbour warehouses to become a public library', 'news', 'positive'],
    ['Central bank leaves interest rates as they are', 'finance', 'neutral'],
    ['Schools test a four-day week', 'news', 'mixed'],
    ['Heat pumps overtake gas boilers in new houses', 'technology', 'positive'],
    ['Court rules that software must be repairable', 'technology', 'neutral'],
    ['Museum gives bronzes back to Benin', 'entertainment', 'positive'],
    ['River pool opens after ten years of cleaning', 'news', 'positive'],
    ['Railway strike ends with a compromise', 'news', 'neutral'],
  ],
  market: [
    ['Shares of battery makers rise on recycling rules', 'finance', 'positive'],
    ['Coffee futures calm down after a dry season', 'finance', 'neutral'],
    ['Stablecoin issuer opens its books to auditors', 'crypto', 'neutral'],
    ['Small caps catch up with the giants', 'finance', 'mixed'],
    ['Luxury groups expect a quieter year', 'finance', 'negative'],
    ['Green bonds find more buyers than sellers', 'finance', 'positive'],
    ['Chip orders shift to older, cheaper nodes', 'technology', 'neutral'],
    ['Bitcoin fees fall to their lowest in months', 'crypto', 'positive'],
  ],
  reddit: [
    ['What is the most useful thing you repaired yourself?', 'other', 'positive'],
    ['I replaced my phone with a pocket radio for a month', 'technology', 'mixed'],
    ['Show us your thirty-piece wardrobe', 'fashion', 'positive'],
    ['Which game taught you something real?', 'entertainment', 'positive'],
    ['Moving to a village with fast internet: ask me anything', 'other', 'neutral'],
    ['The cheapest trip you ever loved', 'other', 'positive'],
    ['How do you keep a sourdough starter alive on holiday?', 'other', 'unknown'],
    ['My index fund and I: ten boring years', 'finance', 'positive'],
  ],
  tiktok: [
    ['Folding a fitted sheet in nine seconds', 'entertainment', 'positive'],
    ['Grandfathers rate modern sneakers', 'fashion', 'positive'],
    ['The lemon soup that everybody cooks this week', 'other', 'positive'],
    ['Painting the harbour silos, day by day', 'entertainment', 'positive'],
    ['A robot that is bad at laundry', 'technology', 'mixed'],
    ['Learning a language by the menu', 'other', 'positive'],
    ['Thrift flip: a curtain becomes a coat', 'fashion', 'positive'],
    ['Dancing in the night bus', 'entertainment', 'positive'],
  ],
}

const HOUR_MS = 3_600_000
// Old enough to be believable, young enough for the usual window of a day.
const SPREAD_HOURS = 20

export function createSamples({ now }: { readonly now: () => Instant }): TrendSource {
  return {
    name: 'samples',
    fetch: async ({ platform, limit }) => samplesOf(platform, now()).slice(0, limit),
  }
}

export function samplesOf(platform: TrendPlatform, now: Instant): readonly TrendData[] {
  const hour = Math.floor(now / HOUR_MS)
  return SAMPLES[platform].map(([topic, category, sentiment], at) => {
    // Each goes round the clock, so that another one is young each hour.
    const ageHours = (hour + at * 5) % SPREAD_HOURS
    const decay = Math.round((1 - ageHours / (SPREAD_HOURS + 4)) * 100) / 100
    const draw = drawOf(platform, topic)
    const likes = Math.round((8_000 + draw(0) * 30_000) * decay)
    const comments = Math.round((1_000 + draw(1) * 6_000) * decay)
    const shares = Math.round((1_000 + draw(2) * 8_000) * decay)
    return {
      trend_id: namedUuid('sample', platform, topic),
      topic,
      platform,
      sentiment,
      timestamp: new Date((hour - ageHours) * HOUR_MS).toISOString(),
      engagement: {
        likes,
        comments,
        shares,
        impressions: likes * 20,
        engagement_score: likes + 2 * comments + 3 * shares,
      },
      trend_velocity: Math.round((0.5 + draw(3)) * decay * 100) / 100,
      decay_score: decay,
      geographic_origin: 'global',
      metadata: {
        hashtags: ['#sample'],
        source_urls: [`https://samples.chimera.invalid/${platform}/${at + 1}`],
        category,
      },
    }
  })
}

/** From 0 to 1, the same for the same words. */
function drawOf(...words: readonly string[]): (at: number) => number {
  const bytes = createHash('sha256').update(JSON.stringify(words)).digest()
  return (at) => bytes.readUInt16BE(at * 2) / 65_536
}
