/**
 * The vocabularies that several shapes of the skills share, and the atoms made of them. Words are
 * the documents'; bounds that no document gives are ours (A5).
 */
import { LIMITS } from '@chimera/domain/limits'
import { type Static, Type } from 'typebox'

export const TREND_PLATFORMS = ['twitter', 'news', 'market', 'reddit', 'tiktok'] as const
export const PUBLISH_PLATFORMS = ['twitter', 'tiktok', 'instagram', 'youtube'] as const
export const CONTENT_TYPES = ['video_script', 'carousel', 'single_post', 'thread'] as const

export const TrendPlatform = Type.Enum(TREND_PLATFORMS)
export type TrendPlatform = Static<typeof TrendPlatform>
export const PublishPlatform = Type.Enum(PUBLISH_PLATFORMS)
export type PublishPlatform = Static<typeof PublishPlatform>

export const Sentiment = Type.Enum(['positive', 'neutral', 'negative', 'mixed', 'unknown'])
export type Sentiment = Static<typeof Sentiment>
export const Region = Type.Enum(['global', 'US', 'EU', 'LATAM', 'APAC', 'AFRICA', 'MENA'])

/** A share or a confidence. */
export const Share = Type.Number({ minimum: 0, maximum: 1 })
/** What is counted is counted exactly. */
export const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
/** A name, a word, a tag of a platform: text that people read in lists. */
export const Word = Type.String({ minLength: 1, maxLength: LIMITS.nameChars })
/** A sentence of a person or a model. */
export const Sentence = Type.String({ minLength: 1, maxLength: LIMITS.descriptionChars })
export const WalletAddress = Type.String({ pattern: '^0x[a-fA-F0-9]{40}$' })
export const Hashtag = Type.String({ pattern: '^#[a-zA-Z0-9_]{1,30}$' })

export const wordsUpTo = (maxItems: number) => Type.Array(Word, { maxItems })
