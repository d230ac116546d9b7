/**
 * `chimera review`: what waits for a person before it is published, and what the person says of it.
 *
 *   R1  What is approved is what was shown: the answer carries the hash of it, and the hub refuses
 *       an answer to anything else.
 *   R2  A review is named by its id, or by as much of it as no other one begins with.
 */
import { checker } from '@chimera/dialects/check'
import { ReviewList, ReviewSeen } from '@chimera/dialects/chimera'
import type { ContentPackage } from '@chimera/dialects/skills/content'
import { shownOn } from '@chimera/dialects/skills/posting'
import { centsOf, instantOf } from '@chimera/dialects/wire'
import { LIMITS } from '@chimera/domain/limits'
import { createClock } from '@chimera/host/clock'
import { optional, setting, type Values } from '@chimera/host/settings/declare'
import { choice, text, whole } from '@chimera/host/settings/kinds'
import { Command } from 'commander'
import { askHub, understand } from '../ask.ts'
import { HUB_ADDRESS, HUB_TOKEN, readFlags } from '../flags.ts'
import { readInput } from '../input.ts'
import { plain, printJson, printTable, writeCredits } from '../show.ts'
import { writeWhen } from '../span.ts'
import { withHubFlags } from '../token-terms.ts'
import { MISUSED, Trouble } from '../trouble.ts'

const ASKED = { ...HUB_ADDRESS, ...HUB_TOKEN } as const
const LISTED = {
  ...ASKED,
  state: setting(choice(['pending', 'approved', 'rejected', 'expired', 'all']), {
    fallback: 'pending',
    about: 'pending, approved, rejected, expired or all; what waits for you unless given.',
  }),
  limit: setting(whole({ least: 1, most: 100 }), { fallback: 20, about: 'How many to list.' }),
} as const
const ANSWERED = {
  ...ASKED,
  reviewer: optional(text({ least: 1, most: LIMITS.reviewerChars }), {
    about: 'Your name, as the receipt and the post shall have it.',
  }),
  words: optional(text({ least: 1, most: LIMITS.descriptionChars }), {
    about: 'What is wrong with it: the words go back to whoever wrote it.',
  }),
  edited: optional(text({ least: 1, most: LIMITS.bodyBytes }), {
    about: 'Approve this text instead: a content package as JSON, @file, or - for standard input.',
  }),
} as const

export function reviewVerb(): Command {
  return new Command('review')
    .description('What waits for you before it is published: list, show, approve, reject')
    .addCommand(
      withHubFlags(new Command('list'))
        .description('What waits for a person, the latest first')
        .option('--state <state>', LISTED.state.about)
        .option('--limit <count>', LISTED.limit.about)
        .action(list),
    )
    .addCommand(
      withHubFlags(new Command('show'))
        .description('One review: the text as it will look, what the judge found, what it cost')
        .argument('<id>', 'As `review list` shows it, or its beginning')
        .action(show),
    )
    .addCommand(
      withHubFlags(new Command('approve'))
        .description('Agree to it: signed by the hub for exactly what was shown')
        .argument('<id>', 'As `review list` shows it, or its beginning')
        .option('--reviewer <name>', ANSWERED.reviewer.about)
        .option('--edited <json>', ANSWERED.edited.about)
        .action((id: string, flags: Options) => answer('approve', id, flags)),
    )
    .addCommand(
      withHubFlags(new Command('reject'))
        .description('Send it back to whoever wrote it, with your words')
        .argument('<id>', 'As `review list` shows it, or its beginning')
        .requiredOption('--words <text>', ANSWERED.words.about)
        .option('--reviewer <name>', ANSWERED.reviewer.about)
        .action((id: string, flags: Options) => answer('reject', id, flags)),
    )
    .addHelpText(
      'after',
      `
Examples:
  chimera review list
  chimera review show 4f2a
  chimera review approve 4f2a --reviewer "Ada"
  chimera review reject 4f2a --words "Shorter, and without the exclamation mark"

The token must have the right to review: an owner's has it, an agent's key never.`,
    )
}

type Options = Readonly<Record<string, unknown>> & { readonly json?: boolean }
type Asked = Values<typeof ASKED>

const now = createClock().now

async function list({ json = false, ...flags }: Options): Promise<void> {
  const asked = await readFlags(LISTED, flags)
  const reviews = await reviewsOf(asked, asked.state, asked.limit)
  if (json) return printJson({ reviews })
  if (reviews.length === 0) {
    console.error(
      asked.state === 'pending' ? 'Nothing waits for you.' : `Nothing is ${asked.state}.`,
    )
    console.error('`chimera campaign list` shows what the fleet is working on.')
    return
  }
  printTable(
    [
      { title: 'REVIEW' },
      { title: 'STATE' },
      { title: 'PLATFORM' },
      { title: 'CONFIDENCE', align: 'right' },
      { title: 'ISSUES', align: 'right' },
      { title: 'EXPIRES' },
      { title: 'TEXT' },
    ],
    reviews.map((each) => [
      each.review_id.slice(0, SHORT),
      each.state,
      each.platform,
      each.confidence.toFixed(2),
      each.issues.length,
      writeWhen(instantOf(each.expires_at), now()),
      shorten(each.content.captions),
    ]),
  )
}

const SHORT = 8
const SHOWN_CHARS = 48
const shorten = (words: string): string =>
  words.length > SHOWN_CHARS ? `${words.slice(0, SHOWN_CHARS - 1)}…` : words

async function reviewsOf({ hub, token }: Asked, state: string, limit: number) {
  const path = `/v1/reviews?state=${state}&limit=${limit}`
  const check = checker(ReviewList)
  return understand(await askHub(hub, path, { token }), { check, hub }).reviews
}

/** R2. */
async function findReview(asked: Asked, id: string): Promise<ReviewSeen> {
  const known = /^[0-9a-f-]{36}$/i.test(id) ? [id] : await idsBeginning(asked, id)
  const [only, another] = known
  if (only === undefined) throw new Trouble('No review is known under this id.')
  if (another !== undefined) {
    throw new Trouble([`Which one? ${id} begins ${known.length} of them:`, ...known], MISUSED)
  }
  const { hub, token } = asked
  const answered = await askHub(hub, `/v1/reviews/${encodeURIComponent(only)}`, { token })
  return understand(answered, { check: checker(ReviewSeen), hub })
}

async function idsBeginning(asked: Asked, id: string): Promise<readonly string[]> {
  const reviews = await reviewsOf(asked, 'all', 100)
  return reviews.flatMap(({ review_id }) =>
    review_id.startsWith(id.toLowerCase()) ? [review_id] : [],
  )
}

async function show(id: string, { json = false, ...flags }: Options): Promise<void> {
  const review = await findReview(await readFlags(ASKED, flags), id)
  if (json) return printJson(review)
  const { content, platform, issues, sources } = review
  const shown = shownOn(platform, content)
  printTable(
    [{ title: 'REVIEW' }, { title: review.review_id }],
    [
      ['state', stateOf(review)],
      ['platform', platform],
      ['publish', review.schedule_time ?? 'at once'],
      ['confidence', review.confidence.toFixed(2)],
      ['written', review.round === 1 ? 'once' : `${review.round} times`],
      ['cost so far', writeCredits(centsOf(review.cost))],
      ['expires', writeWhen(instantOf(review.expires_at), now())],
      ...sources.map(({ url }): [string, string] => ['source', url]),
    ],
  )
  console.log(
    `\n${[shown.title, shown.text].flatMap((each) => (each ? [plain(each)] : [])).join('\n\n')}`,
  )
  console.log(`\n${plain(shown.hashtags.join(' '))}`)
  for (const { severity, message, span } of issues) {
    const where = span === undefined ? '' : ` (${quoted(content, span)})`
    console.log(plain(`${severity}: ${message}${where}`))
  }
}

const stateOf = ({ state, reviewer, words }: ReviewSeen): string =>
  [state, reviewer && `by ${reviewer}`, words && `“${words}”`].filter(Boolean).join(' ')

function quoted(
  content: ContentPackage,
  { field, start, end }: { field: string; start: number; end: number },
): string {
  const name = field.slice(1)
  const words = name === 'script' || name === 'captions' ? content[name] : undefined
  return words === undefined ? field : `“${words.slice(start, end)}”`
}

async function answer(verdict: 'approve' | 'reject', id: string, flags: Options): Promise<void> {
  const asked = await readFlags(ANSWERED, flags)
  const { hub, token, words, reviewer, edited } = asked
  const review = await findReview(asked, id)
  const content = edited === undefined ? undefined : await readInput(edited)
  const body = {
    verdict,
    content_hash: review.content_hash,
    ...(words !== undefined && { words }),
    ...(reviewer !== undefined && { reviewer_id: reviewer }),
    ...(content && { content }),
  }
  const path = `/v1/reviews/${review.review_id}/answer`
  await askHub(hub, path, { token, method: 'POST', body })
  console.error(
    verdict === 'approve'
      ? `Approved${content ? ', as edited' : ''}: it will be published on ${review.platform}.`
      : 'Sent back with your words. The next text will wait for you here.',
  )
}
