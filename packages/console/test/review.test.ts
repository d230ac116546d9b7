/**
 * Campaigns and review in a real Chromium, at a hub that asks who one is: what waits is seen,
 * approved, edited, sent back; and what strangers wrote stays text.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { CampaignSeen, ReviewSeen } from '@chimera/dialects/chimera'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { goTo, type Looking, openBrowser, PAGE, seriousFindings } from './browsing.ts'
import { type Desk, openDesk } from './desk.ts'

const HOSTILE = '<img src=x onerror=alert(1)> \u202Egnp.exe and 90 % of you agree'
const campaign = randomUUID()

let desk: Desk
let looking: Looking

beforeAll(async () => {
  ;[desk, looking] = await Promise.all([openDesk(PAGE), openBrowser()])
})
afterAll(async () => {
  await looking?.close()
  await desk?.stop()
})

const open = (path: string, how = {}, token = desk.token) =>
  looking.open(`${desk.hub.address}/console/${path}#token=${token}`, how)
const reviewAt = ({ review_id }: ReviewSeen) => `review/${review_id}`
const outcome = (page: Page, text: string) => page.locator('.outcome').filter({ hasText: text })
const counted = (page: Page) => page.getByRole('navigation').locator('.count')

describe('a review', () => {
  test('P-5 by keyboard alone: found, opened, told what follows, approved', async () => {
    const older = await desk.lay({ captions: 'The older text, about gardens in the town.' })
    const newer = await desk.lay({ captions: 'The newer text, about the ferry at night.' })
    const page = await open('network')
    await counted(page).getByText('2').waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('r')
    await page.locator('.letters a').nth(1).waitFor()
    const article = page.getByRole('article')
    await page.keyboard.press('j')
    await article.getByText('The newer text').waitFor()
    await page.keyboard.press('j')
    await article.getByText('The older text').waitFor()
    await page.keyboard.press('k')
    await article.getByText('The newer text').waitFor()
    await page.keyboard.press('a')
    const dialog = page.getByRole('dialog')
    assert.match((await dialog.textContent()) ?? '', /signs an approval for exactly what is shown/)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    assert.equal((await desk.show(newer)).state, 'pending')
    await page.keyboard.press('a')
    await dialog.waitFor()
    await page.keyboard.press('Enter')
    await outcome(page, 'Approved').waitFor()
    await counted(page).getByText('1').waitFor()
    assert.equal((await desk.show(newer)).state, 'approved')
    // The next one is the one that has taken its place.
    await page.keyboard.press('j')
    await article.getByText('The older text').waitFor()
    await page.keyboard.press('Escape')
    await article.waitFor({ state: 'detached' })
    assert.equal((await desk.show(older)).state, 'pending')
    await page.context().close()
  })

  test('P-5 is edited where the platform shows it, and approved so', async () => {
    const laid = await desk.lay({ platform_variants: { twitter: { text: 'As it was.' } } })
    const page = await open(reviewAt(laid))
    await page.getByRole('article').getByText('As it was.').waitFor()
    await page.keyboard.press('e')
    const post = page.getByLabel('Post')
    assert.equal(await post.inputValue(), 'As it was.')
    await post.fill('x'.repeat(281))
    await page.getByText('1 too long: 280 at most').waitFor()
    const act = page.getByRole('button', { name: 'Approve as edited' })
    assert.equal(await act.isDisabled(), true)
    await post.fill('Better so, line one.\nAnd line two.')
    await page.getByRole('article').getByText('Better so').waitFor()
    await act.click()
    const dialog = page.getByRole('dialog')
    assert.match((await dialog.textContent()) ?? '', /the text as you made it/)
    await dialog.getByRole('button', { name: 'Approve' }).click()
    await outcome(page, 'Approved').waitFor()
    const { state, content } = await desk.show(laid)
    assert.equal(state, 'approved')
    const text = 'Better so, line one.\nAnd line two.'
    assert.deepEqual(content, { ...laid.content, platform_variants: { twitter: { text } } })
    await page.context().close()
  })

  test('SK-16 is sent back with words, and not without', async () => {
    const laid = await desk.lay({})
    const page = await open(reviewAt(laid))
    await page.getByRole('article').waitFor()
    await page.keyboard.press('r')
    const dialog = page.getByRole('dialog')
    const act = dialog.getByRole('button', { name: 'Reject' })
    await act.waitFor()
    assert.equal(await act.isDisabled(), true)
    await page.keyboard.type('Shorter, and are you sure?')
    await act.click()
    await outcome(page, 'Sent back').getByText('Shorter, and are you sure?').waitFor()
    const { state, words } = await desk.show(laid)
    assert.deepEqual([state, words], ['rejected', 'Shorter, and are you sure?'])
    await page.context().close()
  })

  test('shows strangers’ words as words, the judge’s marks in them, and safe links', async () => {
    const start = HOSTILE.indexOf('90 %')
    const laid = await desk.lay(
      { captions: HOSTILE },
      {
        issues: [
          {
            rule: 'claim',
            severity: 'error',
            message: '<b>No source</b>',
            span: { field: '/captions', start, end: start + 4 },
          },
        ],
        sources: [
          { url: 'https://news.example/library', title: '"><script>alert(2)</script>' },
          { url: 'http://plain.example/' },
        ],
      },
    )
    const page = await open(reviewAt(laid))
    const mark = page.getByRole('article').locator('mark')
    assert.equal(await mark.textContent(), '90 %1')
    assert.equal(
      await page.locator('.post .words').textContent(),
      '<img src=x onerror=alert(1)> ⟨202e⟩gnp.exe and 90 %1 of you agree',
    )
    await page.getByText('<b>No source</b>').waitFor()
    const source = page.getByRole('link', { name: '"><script>alert(2)</script>' })
    assert.equal(await source.getAttribute('rel'), 'noreferrer')
    await page.getByText('http://plain.example/').waitFor()
    assert.equal(await page.locator('a[href^="http://plain"]').count(), 0)
    assert.equal(await page.locator('main img, main script').count(), 0)
    await page.context().close()
  })

  test('who may not answer sees why; an operator is told whose it is', async () => {
    const laid = await desk.lay({})
    const narrow = await desk.send('/v1/tokens', { scopes: ['read'] })
    const reader = await open(reviewAt(laid), {}, String(narrow.body.token))
    await reader.getByText('it lacks the scope “review”').waitFor()
    await reader.keyboard.press('a')
    assert.equal(await reader.getByRole('dialog').count(), 0)
    assert.equal(await reader.getByRole('button', { name: 'Approve' }).count(), 0)
    const no = { verdict: 'reject', content_hash: laid.content_hash, words: 'No.' }
    const other = await desk.lay({})
    await desk.send(`/v1/reviews/${laid.review_id}/answer`, no)
    const operator = await open(reviewAt(other), {}, desk.hub.firstOperatorToken)
    await operator.getByText('Reviews belong to owners').waitFor()
    await operator.getByText('Only its owner answers it').waitFor()
    await operator.getByRole('link', { name: 'Campaigns' }).click()
    await operator.getByText('Campaigns belong to owners').waitFor()
    await operator.context().close()
    // Answered by another meanwhile, it says so by itself.
    await outcome(reader, 'Sent back').waitFor()
    await reader.context().close()
  })
})

const at = (second: number) => new Date(1_790_000_000_000 + second * 1_000).toISOString()
const pieces = (review: string): CampaignSeen['pieces'] => [
  {
    piece_id: randomUUID(),
    topic: HOSTILE,
    platform: 'twitter',
    relevance: 0.93,
    review_id: review,
    moments: [
      { state: 'trend_detected', at: at(0) },
      { state: 'approval_pending', at: at(9) },
    ],
  },
  {
    piece_id: randomUUID(),
    topic: 'Gossip',
    platform: 'twitter',
    moments: [{ state: 'filtered_out', at: at(1), words: 'gossip is excluded' }],
  },
]

describe('a campaign', () => {
  test('SK-16 shows its pieces by state and its steps, and is paused', async () => {
    const { review_id } = await desk.lay({}, { campaign_id: campaign })
    const record = {
      campaign_id: campaign,
      pieces: pieces(review_id),
      budget: { total: 5, spent: 0.4 },
      steps: [
        {
          step: 'write 1',
          skill: 'generate_content',
          state: 'done' as const,
          attempts: 2,
          cost: 0.4,
          began_at: at(0),
          ended_at: at(6),
          words: 'The first writer left',
        },
      ],
    }
    await desk.tell(record)
    const page = await open('campaigns')
    const waits = page.getByRole('region', { name: 'Waits for a person' })
    await waits.getByText('⟨202e⟩gnp.exe').waitFor()
    await page.getByRole('region', { name: 'Ended' }).getByText('gossip is excluded').waitFor()
    await page.getByRole('button', { name: 'Pause' }).click()
    const dialog = page.getByRole('dialog')
    assert.match((await dialog.textContent()) ?? '', /spends nothing more/)
    await dialog.getByRole('button', { name: 'Pause' }).click()
    await page.getByText('asked to pause').waitFor()
    await desk.tell({ ...record, version: 2, status: 'paused' })
    // By asking again, with nobody's help.
    await page.getByText('paused', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Resume' }).waitFor()
    await page.getByRole('table').getByRole('link', { name: 'Town square' }).click()
    const steps = page.getByRole('table', { name: 'Steps' })
    const [row = ''] = await steps.locator('tbody tr').allTextContents()
    assert.match(row, /Generate content.*done.*The first writer left.*2.*0\.40.*6\.0 s/)
    await waits.getByRole('link', { name: 'Review it' }).click()
    await page.getByRole('article').waitFor()
    assert.ok(page.url().endsWith(review_id))
    await page.context().close()
  })
})

test('a reviewer’s token leads to what waits, moves nothing, and signs with a name', async () => {
  const laid = await desk.lay({ captions: 'One for the reviewer, about the old bridge.' })
  const narrow = await desk.send('/v1/tokens', { scopes: ['read', 'review'] })
  const page = await open('', {}, String(narrow.body.token))
  await page.getByText('Reviewer for').waitFor()
  await page.getByRole('heading', { level: 1, name: 'Review' }).waitFor()
  const screens = page.getByRole('navigation').getByRole('link')
  assert.match((await screens.first().textContent()) ?? '', /^Review/)
  assert.equal(await page.getByRole('link', { name: 'Operate' }).count(), 0)
  await goTo(page, 'campaigns')
  await page.getByRole('table', { name: 'Campaigns' }).getByText('only to look at').waitFor()
  assert.equal(await page.getByRole('button', { name: /Pause|Resume/ }).count(), 0)

  await goTo(page, reviewAt(laid))
  await page.getByRole('article').waitFor()
  await page.keyboard.press('a')
  await page.getByLabel('Your name').fill('Ruth Vogel')
  await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click()
  await outcome(page, 'Approved').getByText('Ruth Vogel').waitFor()
  const { body } = await desk.send('/v1/approvals?limit=1')
  const [signed] = body.approvals as readonly { readonly reviewer_id: string }[]
  assert.equal(signed?.reviewer_id, 'Ruth Vogel')
  // The next one is asked for under the same name.
  const next = await desk.lay({})
  await goTo(page, reviewAt(next))
  await page.getByRole('article').waitFor()
  await page.keyboard.press('r')
  assert.equal(await page.getByLabel('Your name').inputValue(), 'Ruth Vogel')
  await page.context().close()
})

describe('both screens', () => {
  for (const [colorScheme, width, checked] of [
    ['light', 1440, 'everything'],
    ['dark', 390, 'colours'],
  ] as const) {
    test(`${colorScheme}, ${width} wide: axe is content, nothing scrolls sideways`, async () => {
      const laid = await desk.lay({ captions: HOSTILE.repeat(3) }, { platform: 'instagram' })
      const how = { colorScheme, viewport: { width, height: 844 } }
      const page = await open('campaigns', how)
      const look = async (path: string, shown: string) => {
        await goTo(page, path)
        await page.locator(shown).first().waitFor()
        assert.deepEqual(await seriousFindings(page, checked), [], path)
        const wide = Number(await page.evaluate('document.documentElement.scrollWidth'))
        assert.ok(wide <= width, `${path} is ${wide} wide`)
      }
      await look('campaigns', '.piece')
      await look(`campaigns/${campaign}`, '.piece')
      await look(reviewAt(laid), '.post')
      await page.keyboard.press('e')
      await page.locator('textarea').first().waitFor()
      assert.deepEqual(await seriousFindings(page, checked), [])
      await page.context().close()
    })
  }

  test('nothing was asked of anybody else, nothing ran that should not, nothing failed', () => {
    assert.deepEqual(looking.faults(), [])
  })
})
