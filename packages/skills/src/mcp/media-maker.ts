/**
 * Pictures and videos from the tools of an MCP server: `ideogram` and `runwayml` (SK-8).
 *
 *   M1  A tool answers with addresses, as data, as links or as text. Bytes are not taken, and
 *       neither is an address that is not of the web.
 *   M2  Every item says what is to be seen: in the tool's words, else the writer's, else ours.
 */
import { isHttpUrl } from '@chimera/dialects/wire'
import type { Brief, Draft } from '../compose/brief.ts'
import type { MediaMaker } from '../generate-content.ts'
import { cleanText, readData } from './clean.ts'
import type { McpAnswer, McpConnection } from './connection.ts'
import { McpFailure } from './failure.ts'

export type MediaMakerOptions = {
  /** The tool that makes pictures: `ideogram` unless given. */
  readonly image?: string
  /** The tool that makes videos: `runwayml` unless given. */
  readonly video?: string
  /** Of videos: 15 unless given. */
  readonly seconds?: number
}

type Media = Awaited<ReturnType<MediaMaker>>
type Item = Media[number]

const MOST_MEDIA = 10
const PROMPT_CHARS = 500
const ALT_CHARS = 300
const SECONDS = 15
// Before the skill gives up, at 30 s, so that a silent server is noticed.
const LIMIT_MS = 29_000

export function mediaMaker(
  connection: McpConnection,
  { image = 'ideogram', video = 'runwayml', seconds = SECONDS }: MediaMakerOptions = {},
): MediaMaker {
  return async (brief, draft, signal) => {
    const type = wantedOf(brief)
    if (type === undefined) return []
    const input = {
      prompt: promptOf(brief, draft),
      aspect_ratio: ratioOf(brief),
      ...(type === 'video' && { duration_seconds: seconds }),
    }
    const tool = type === 'video' ? video : image
    const answer = await connection.call(tool, input, { signal, limitMs: LIMIT_MS })
    const found = foundIn(answer)
    if (found.length === 0) throw new McpFailure('rubbish', 'no address came', { sent: true })
    return found.slice(0, MOST_MEDIA).map(({ url, alt, ...more }): Item => {
      const made = { url, type, generated_by: type === 'video' ? 'runwayml' : 'ideogram' } as const
      return {
        ...made,
        ...(type === 'video' && { duration_sec: more.seconds ?? seconds }),
        ...(more.bytes !== undefined && { size_bytes: more.bytes }),
        alt_text: alt ?? draft.alt ?? altOf(brief, type),
      }
    })
  }
}

/** What the persona likes, else what the kind of content needs. */
function wantedOf({ persona, type }: Brief): Item['type'] | undefined {
  const { media_preference: liked } = persona.content_style
  if (liked === 'text_only') return undefined
  if (liked === 'text_images') return 'image'
  if (liked === 'videos') return 'video'
  return type === 'video_script' ? 'video' : 'image'
}

function ratioOf({ platform, type }: Brief): string {
  if (platform === 'tiktok') return '9:16'
  if (platform === 'instagram') return type === 'video_script' ? '9:16' : '4:5'
  return '16:9'
}

/** The topic is quoted: it is what the picture is about, whatever it says. */
function promptOf({ trend, persona }: Brief, { captions }: Draft): string {
  const topic = cleanText(trend.topic).replaceAll('"', "'")
  const scene = cleanText(captions).replaceAll('"', "'")
  const prompt = [
    `An illustration of the topic "${topic}".`,
    `In a ${persona.voice_tone} style, without any writing in it.`,
    `It stands beside the text "${scene}"`,
  ].join(' ')
  return prompt.slice(0, PROMPT_CHARS)
}

/** M2. */
function altOf({ trend }: Brief, type: Item['type']): string {
  const kind = type === 'video' ? 'Video' : 'Picture'
  return `${kind} about: ${cleanText(trend.topic)}`.slice(0, ALT_CHARS)
}

type Found = {
  readonly url: string
  readonly alt?: string
  readonly seconds?: number
  readonly bytes?: number
}

/** M1. */
function foundIn({ data, links, texts }: McpAnswer): readonly Found[] {
  const given = data === undefined ? [] : itemsIn(data)
  if (given.length > 0) return given
  const linked = links.filter(({ uri }) => isHttpUrl(uri)).map(({ uri }) => ({ url: uri }))
  if (linked.length > 0) return linked
  return texts.flatMap((text) => {
    const bare = text.trim()
    return isHttpUrl(bare) ? [{ url: cleanText(bare) }] : itemsIn(readData(text))
  })
}

const LISTS = ['media', 'images', 'videos', 'items', 'data', 'output', 'urls']

/** `{ url }`, a list of those or of addresses, or one of them under a usual name. */
function itemsIn(data: unknown): readonly Found[] {
  if (typeof data === 'string') return isHttpUrl(data) ? [{ url: data }] : []
  if (Array.isArray(data)) return data.flatMap(itemsIn).slice(0, MOST_MEDIA)
  if (typeof data !== 'object' || data === null) return []
  const record: Readonly<Record<string, unknown>> = { ...data }
  const { url } = record
  if (typeof url === 'string' && isHttpUrl(url)) return [{ url, ...detailsOf(record) }]
  return LISTS.flatMap((name) => itemsIn(record[name]))
}

function detailsOf(record: Readonly<Record<string, unknown>>): Omit<Found, 'url'> {
  const alt = [record.alt_text, record.alt, record.description].find(
    (each): each is string => typeof each === 'string' && each.trim() !== '',
  )
  const { duration_sec: seconds, size_bytes: bytes } = record
  return {
    ...(alt !== undefined && { alt: alt.slice(0, ALT_CHARS) }),
    ...(typeof seconds === 'number' && seconds >= 0 && seconds <= 600 && { seconds }),
    ...(typeof bytes === 'number' && Number.isSafeInteger(bytes) && bytes >= 0 && { bytes }),
  }
}
