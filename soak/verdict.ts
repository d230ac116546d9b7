/**
 * The verdict: a row for each promise, with what was found and what was wanted.
 *
 *   V1  Memory is judged by the slope of what a process holds after a collection (trend.ts), for
 *       each campaign that ended, so that a fast machine and a slow one are held to the same.
 *   V2  Everything else is exact: one hundredth, one hold or one post too much is a failure.
 */
import { centsOf, writeCents } from '@chimera/dialects/wire'
import type { Ended } from './drive.ts'
import type { Left } from './exam.ts'
import type { Gauged } from './gauge.ts'
import { courseOf, fit, settled } from './trend.ts'

export type Row = {
  readonly what: string
  readonly ok: boolean
  readonly found: string
  readonly wanted: string
}

export type Sample = Gauged & {
  /** Campaigns that had ended by then. */
  readonly ended: number
}

export type Driven = {
  readonly begun: number
  readonly ended: readonly Ended[]
  /** Texts that a person let through. */
  readonly approved: number
  /** In credits: what the hirer began with. */
  readonly given: number
}

const KB = 1_024

/**
 * In KB for each campaign. What is kept of one for a day is a name for each of its dozen pieces of
 * work, and moments that are followed are bounded by the thousand; contents alone would be more.
 */
const HELD_LIMIT_KB = 32
/** The machine's memory is given back late and in large pieces, so that it is noisier. */
const RSS_LIMIT_KB = 256

/** V1. */
export function judgeMemory(process: string, samples: readonly Sample[]): readonly Row[] {
  const judge = (what: string, limit: number, figureOf: (sample: Sample) => number): Row => {
    const points = samples.map((each) => ({ at: each.ended, figure: figureOf(each) / KB }))
    const slope = fit(settled(points))
    const course = courseOf(slope, limit)
    const found =
      slope === undefined
        ? 'too few samples to say'
        : `${course}: ${kb(slope.slope)} a campaign (${kb(slope.least)} to ${kb(slope.most)})`
    return { what, ok: course === 'flat', found, wanted: `at most ${limit} KB a campaign` }
  }
  return [
    judge(`${process} holds`, HELD_LIMIT_KB, ({ held }) => held),
    judge(`${process} takes of the machine`, RSS_LIMIT_KB, ({ rss }) => rss),
  ]
}

const kb = (figure: number): string => `${figure.toFixed(1)} KB`

/** V2. */
export function judgeLeft(driven: Driven, left: Left): readonly Row[] {
  return [
    ...judgeCampaigns(driven),
    ...judgeMoney(driven, left),
    ...judgePosts(driven, left),
    none('dead letters', left.letters === 0 ? [] : [`${left.letters} letters`]),
    none('slots and work that did not end', left.busy),
    none('alerts', left.alerts),
    none('answers that broke their schema', left.refused === 0 ? [] : [`${left.refused}`]),
  ]
}

function judgeCampaigns({ begun, ended }: Driven): readonly Row[] {
  const failed = ended.flatMap(({ id, failed: words }) => (words ? [`${id}: ${words}`] : []))
  const row = { what: 'campaigns', wanted: 'all begun have ended, and none failed' }
  const found = `${ended.length} of ${begun} ended, ${failed.length} failed`
  const ok = ended.length === begun && begun > 0 && failed.length === 0
  return [{ ...row, ok, found: [found, ...failed.slice(0, MOST_SHOWN)].join('; ') }]
}

function judgeMoney(driven: Driven, { books, hirerHas, trail }: Left): readonly Row[] {
  const chain = {
    what: 'audit',
    wanted: 'the chain holds, and every balance follows from it',
  }
  const balance: Row = {
    what: 'books',
    ok: books.balanced && books.standing_holds === 0 && books.in_holds === 0,
    found: `${books.minted} minted, ${books.in_holds} in ${books.standing_holds} open holds`,
    wanted: 'all that was minted is in accounts, and no hold is open',
  }
  if (typeof trail === 'string') return [balance, { ...chain, ok: false, found: trail }]
  const hires = new Map(trail.hires.map((hire) => [String(hire.task), hire]))
  const wrong = driven.ended.flatMap(({ id, task, done }) => {
    const hire = hires.get(task)
    if (hire === undefined) return done === undefined ? [] : [`${id} was never paid for`]
    const { stage, open, othersCents } = hire
    if (stage === 'open' || open > 0) return [`${id} has ${open} open holds`]
    const { spentCents = othersCents } = done ?? {}
    if (spentCents === othersCents) return []
    return [`${id} spent ${writeCents(spentCents)}, captured ${writeCents(othersCents)}`]
  })
  const costCents = trail.hires.reduce((sum, hire) => sum + hire.costCents, 0)
  const expected = writeCents(centsOf(driven.given) - costCents)
  return [
    balance,
    { ...chain, ok: true, found: `${trail.facts} facts hold together` },
    none('spent is not what was captured', wrong),
    {
      what: 'hirer',
      ok: hirerHas === expected,
      found: `has ${hirerHas} credits`,
      wanted: `${expected}: what it was given but for ${writeCents(costCents)} captured`,
    },
  ]
}

function judgePosts({ ended, approved }: Driven, { posts }: Left): readonly Row[] {
  const twice = posts.filter((post, at) => posts.indexOf(post) !== at)
  const published = ended.flatMap(({ done }) => done?.published ?? [])
  const known = new Set(posts)
  const missing = published.filter((piece) => !known.has(piece))
  return [
    none('posted more than once', twice),
    none('published and not posted', missing),
    {
      what: 'posts',
      ok: posts.length === approved && published.length === approved,
      found: `${posts.length} posts of ${published.length} published pieces`,
      wanted: `${approved}, as a person approved`,
    },
  ]
}

const MOST_SHOWN = 3

const none = (what: string, found: readonly string[]): Row => ({
  what,
  ok: found.length === 0,
  found: found.length === 0 ? 'none' : `${found.length}: ${found.slice(0, MOST_SHOWN).join('; ')}`,
  wanted: 'none',
})

export function renderRows(rows: readonly Row[]): string {
  const width = Math.max(...rows.map(({ what }) => what.length))
  return rows
    .map(({ what, ok, found, wanted }) => {
      const line = `${ok ? '✓' : '✗'}  ${what.padEnd(width)}  ${found}`
      return ok ? line : `${line}\n${' '.repeat(width + 5)}wanted: ${wanted}`
    })
    .join('\n')
}
