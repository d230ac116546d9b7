/**
 * What `chimera-feeds` reads: addresses by platform, from a file, from arguments, or both.
 *
 *   S1  All that is wrong is said at once, by field.
 *   S2  `${NAME}` in an address stands for a variable of the environment, so that an address with a
 *       key in it need not be written down.
 */
import { checker } from '@chimera/dialects/check'
import { Region, TREND_PLATFORMS, TrendPlatform } from '@chimera/dialects/skills/words'
import { type Static, Type } from 'typebox'

const CATEGORIES = [
  'technology',
  'fashion',
  'finance',
  'entertainment',
  'news',
  'crypto',
  'other',
] as const

export const Feed = Type.Object(
  {
    platform: TrendPlatform,
    url: Type.String({ minLength: 1, maxLength: 2_000 }),
    category: Type.Optional(Type.Enum(CATEGORIES)),
    region: Type.Optional(Region),
  },
  { additionalProperties: false },
)
export type Feed = Static<typeof Feed>

const FeedSettings = Type.Object(
  {
    feeds: Type.Optional(Type.Array(Feed, { maxItems: 100 })),
    /** Samples for the platforms that have no feed. */
    samples: Type.Optional(Type.Boolean()),
    /** A file that remembers what was seen, so that velocity outlives the process. */
    memory: Type.Optional(Type.String({ minLength: 1, maxLength: 4_096 })),
    /** How long a reading is good: 5 unless given. */
    refreshMinutes: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_440 })),
    /** Networks that may be dialled beside public ones. */
    allowNet: Type.Optional(Type.Array(Type.String({ maxLength: 100 }), { maxItems: 100 })),
  },
  { additionalProperties: false },
)
export type FeedSettings = Static<typeof FeedSettings>

const check = checker(FeedSettings)

export type SettingsRead =
  | { readonly ok: true; readonly settings: FeedSettings }
  | { readonly ok: false; readonly problems: readonly string[] }

export function readFeedSettings(text: string): SettingsRead {
  const json = parsed(text)
  if (json === undefined) return { ok: false, problems: ['the file is not JSON'] }
  const checked = check(json)
  if (checked.ok) return { ok: true, settings: checked.message }
  const problems = (checked.particulars.issues ?? []).map(
    ({ path, expected, got }) => `${path || '/'}: expected ${expected}, got ${got}`,
  )
  return { ok: false, problems: problems.length > 0 ? problems : ['not the settings of feeds'] }
}

/** `news=https://example.org/rss.xml`; undefined for what is not. */
export function readFeedArgument(text: string): Feed | undefined {
  const at = text.indexOf('=')
  const platform = TREND_PLATFORMS.find((each) => each === text.slice(0, at))
  const url = text.slice(at + 1)
  return platform === undefined || at < 0 || url === '' ? undefined : { platform, url }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
