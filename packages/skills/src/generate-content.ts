/**
 * `generate_content` (SK-8): a content package from a trend, in a persona's voice.
 *
 *   G1  What is not safe to show is written once more, more carefully, and then refused.
 *   G2  Without media the content stands: it is left out when nobody makes it, or nobody can.
 *   G3  When time runs out, what is written is the answer, with little confidence.
 *   G4  The same trend, persona, platform and type have the same content id.
 *   G5  Whoever wrote it, a text is held to the persona and cleaned of what leads elsewhere; what
 *       cannot be mended is as good as not written.
 *   G6  The model has 15 s for all it writes, media has 30 s; who asks the same at once shares
 *       both.
 */
import { type ContentPackage, REVIEW_BELOW } from '@chimera/dialects/skills/content'
import { SKILLS } from '@chimera/dialects/skills/contracts'
import type { GenerateContentInput, GenerateContentOutput } from '@chimera/dialects/skills/schema'
import { type Clock, createClock } from '@chimera/skill/clock'
import { defineSkill } from '@chimera/skill/define'
import type { Brief, Draft, Writer } from './compose/brief.ts'
import { composer } from './compose/composer.ts'
import { isHarmful, mended } from './compose/mended.ts'
import { headlineOf } from './compose/subject.ts'
import { variantsFor } from './compose/variants.ts'
import { contracted, type Priced } from './contracted.ts'
import { createOffensiveCheck, type OffensiveHands } from './judge/offensive.ts'
import { detailOf, ModelFailure } from './models/model.ts'
import { namedUuid } from './named-uuid.ts'

export type Media = NonNullable<ContentPackage['media_metadata']>

/** Who makes pictures or videos for a text. Rejects when it cannot. */
export type MediaMaker = (brief: Brief, draft: Draft, signal: AbortSignal) => Promise<Media>

export type GenerateContentOptions = Priced &
  OffensiveHands & {
    /** Language models, the best first; the next one where one fails. Default: the composer. */
    readonly writers?: readonly Writer[]
    readonly media?: MediaMaker
    /** For the 30 s that media has. The system's unless given. */
    readonly clock?: Clock
  }

const { generate_content: CONTRACT } = SKILLS
// Half a text, or one without the media that was asked for, is a thing to look at.
const PARTIAL_CONFIDENCE = 0.3
const UNCLEAR_MOST = 0.75
const MODEL_MS = CONTRACT.parts?.model ?? 15_000
const MEDIA_MS = CONTRACT.parts?.media ?? 30_000
/** Texts of calls that are tried again, so that no model is paid twice for one. */
const MOST_DRAFTS = 100

type Written = { readonly draft: Draft; readonly by: string }

export function generateContent(options: GenerateContentOptions = {}) {
  const { writers = [], media, clock = createClock(), ...hands } = options
  const offensive = createOffensiveCheck(hands)
  const written = new Map<string, Written>()

  const isClean = (text: string): boolean =>
    offensive({ field: '', text }).every(({ severity }) => severity !== 'error')
  const isSafe = (draft: Draft): boolean => {
    const { script, captions, hashtags, alt = '' } = draft
    return [script, captions, hashtags.join(' '), alt].every(isClean) && !isHarmful(draft)
  }

  /** Alt text for all of it: the maker's where it is fit to be read, else the writer's or ours. */
  function described({ trend }: Brief, { alt }: Draft, made: Media): Media {
    const kinds = { image: 'Picture', video: 'Video' } as const
    return made.map((item) => {
      const own = `${kinds[item.type]} about: ${headlineOf(trend.topic)}`
      const said = [item.alt_text, alt, own].find(
        (text) => text !== undefined && text.trim() !== '' && isClean(text),
      )
      return { ...item, alt_text: said ?? `${kinds[item.type]} to the text` }
    })
  }

  function remember(call: string, one: Written): Written {
    written.set(call, one)
    const [oldest] = written.keys()
    if (written.size > MOST_DRAFTS && oldest !== undefined) written.delete(oldest)
    return one
  }

  return defineSkill({
    ...contracted(CONTRACT, options),
    shared: true,
    run: async (asked, { signal, keep, progress, now, failure, fallback, call, attempt }) => {
      const began = now()
      const writer = writers[fallback === 'model' ? attempt - 1 : 0] ?? composer

      /** G1, G5. */
      async function write(): Promise<Written> {
        for (const careful of [false, true]) {
          const brief = briefOf(asked, careful, Math.max(1, began + MODEL_MS - now()))
          const given = await writer.write(brief, signal).catch((cause: unknown) => {
            throw signal.aborted ? cause : failure('LLM_ERROR', { cause, ...detailOf(cause) })
          })
          const draft = mended(brief, given)
          if (draft === undefined) {
            const cause = new ModelFailure('unusable', 'a text that the persona may not say')
            throw failure('LLM_ERROR', { cause, ...detailOf(cause) })
          }
          if (isSafe(draft)) return remember(call, { draft, by: writer.name })
        }
        throw failure('SAFETY_VIOLATION')
      }

      const { draft, by } = written.get(call) ?? (await write())
      const answer = (made: Media, confidence = draft.confidence): GenerateContentOutput =>
        answerOf(asked, { draft, made, by, confidence, tookMs: now() - began })
      keep(answer([], Math.min(draft.confidence, PARTIAL_CONFIDENCE)))
      progress(0.5, 'written')
      if (media === undefined || asked.media_generation === false) return answer([])
      const part = partOf(clock, MEDIA_MS, signal)
      try {
        const brief = briefOf(asked, false, MEDIA_MS)
        return answer(described(brief, draft, await part.race(media(brief, draft, part.signal))))
      } catch (cause) {
        if (signal.aborted) throw cause
        throw failure(part.isLate() ? 'GENERATION_TIMEOUT' : 'MEDIA_GENERATION_FAILED', { cause })
      } finally {
        part.end()
      }
    },
    recover: ({ ending, partial }): GenerateContentOutput | undefined =>
      (ending === 'partial' || ending === 'without_media') && isAnswer(partial)
        ? partial
        : undefined,
  })
}

function briefOf(asked: GenerateContentInput, careful: boolean, withinMs: number): Brief {
  const { trend, persona, platform, content_type: type = 'video_script', revision } = asked
  return { trend, persona, platform, type, careful, withinMs, ...(revision && { revision }) }
}

type Part = {
  readonly signal: AbortSignal
  readonly isLate: () => boolean
  /** Whoever does not listen to the signal is left alone. */
  readonly race: <Value>(running: Promise<Value>) => Promise<Value>
  readonly end: () => void
}

/** A part of the whole with a time of its own. */
function partOf(clock: Clock, ms: number, whole: AbortSignal): Part {
  const own = new AbortController()
  let late = false
  const timer = clock.after(ms, () => {
    late = true
    own.abort(new DOMException('the part took too long', 'TimeoutError'))
  })
  const signal = AbortSignal.any([whole, own.signal])
  return {
    signal,
    isLate: () => late,
    race: (running) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true })
        running.then(resolve, reject)
      }),
    end: timer.cancel,
  }
}

function answerOf(
  asked: GenerateContentInput,
  made: {
    readonly draft: Draft
    readonly made: Media
    readonly by: string
    readonly confidence: number
    readonly tookMs: number
  },
): GenerateContentOutput {
  const { trend } = asked
  const brief = briefOf(asked, false, 0)
  const { draft, by, tookMs } = made
  const isUnclear = trend.sentiment === 'mixed' || trend.sentiment === 'unknown'
  const confidence = isUnclear ? Math.min(made.confidence, UNCLEAR_MOST) : made.confidence
  const seed = [trend.trend_id, asked.persona.agent_id, brief.platform, brief.type]
  const content: ContentPackage = {
    content_id: namedUuid('content', ...seed),
    task_id: namedUuid('task', ...seed),
    trend_ref: trend.trend_id,
    script: draft.script,
    captions: draft.captions,
    media_urls: made.made.map(({ url }) => url),
    ...(made.made.length > 0 && { media_metadata: made.made }),
    hashtags: [...draft.hashtags],
    confidence_score: confidence,
    requires_review: confidence < REVIEW_BELOW,
    generation_metadata: {
      generator_agent: asked.persona.name,
      model: by,
      persona_applied: 'strict',
      safety_checks_passed: true,
      generation_time_ms: tookMs,
    },
    platform_variants: variantsFor(brief, draft),
  }
  return {
    content,
    generation_time_ms: tookMs,
    model_used: by,
    confidence_score: confidence,
  }
}

function isAnswer(partial: unknown): partial is GenerateContentOutput {
  return typeof partial === 'object' && partial !== null && 'content' in partial
}
