/** What a writer is given, and what it gives back: the port that models and the composer share. */
import type { Persona } from '@chimera/dialects/skills/persona'
import type { TrendData } from '@chimera/dialects/skills/trend'
import type { PublishPlatform } from '@chimera/dialects/skills/words'

export type ContentType = 'video_script' | 'carousel' | 'single_post' | 'thread'

export type Brief = {
  readonly trend: TrendData
  readonly persona: Persona
  readonly platform: PublishPlatform
  readonly type: ContentType
  /** The first text was not safe to show: this one has to be milder. */
  readonly careful: boolean
  /** A person sent the last text back: how often it is written now, and what was wrong. */
  readonly revision?: { readonly round: number; readonly words: string }
  /** How long the writing may take. */
  readonly withinMs: number
}

export type Draft = {
  /** 50 to 5000 characters. */
  readonly script: string
  /** 20 to 2000 characters. */
  readonly captions: string
  /** 3 to 30, each with its `#`. */
  readonly hashtags: readonly string[]
  /** How much the writer trusts it, 0 to 1. */
  readonly confidence: number
  /** What a picture to it would show, for who cannot see it. */
  readonly alt?: string
}

export type Writer = {
  /** As the answer names it. */
  readonly name: string
  readonly write: (brief: Brief, signal: AbortSignal) => Promise<Draft>
}
