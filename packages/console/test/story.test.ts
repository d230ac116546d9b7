/**
 * The first minutes of a stranger, in a real Chromium: `npm start`, one address, a network that
 * lives, a text that waits, a yes by keyboard, a post, the money, the ratings and the proof. Then
 * Ctrl-C, and another start that has it all.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { type Looking, openBrowser } from './browsing.ts'
import { npmStart, type Started } from './starting.ts'

/** What is printed to be tried, and what it shows while a text waits. */
const SHOWN: Readonly<Record<string, RegExp>> = {
  'review list': /^\w{8} +pending +twitter/m,
  'campaign list': /^\w{8} +Town square +active/m,
  'agents skills': /^generate_content +1$/m,
}
/** A machine that is busy with other tests makes a first start in a minute or so. */
const PATIENCE_MS = 180_000
const LOOK_MS = 60_000

let cwd: string
let network: Started
let looking: Looking
let page: Page
/** As printed. */
let address: string
let operator: string
let hints: readonly string[]
let post: string
let paid: string

async function start(): Promise<void> {
  network = npmStart(['--listen', '127.0.0.1:0'], cwd)
  const [said] = await network.says(/Chimera is up: [\s\S]+Ctrl-C stops/)
  const addresses = said.match(/http:\S+/g) ?? []
  ;[address = '', operator = ''] = addresses
  hints = [...said.matchAll(/^ +npm start -- (\S+(?: \S+)*) {2,}\S/gm)].map(([, one = '']) => one)
}

async function look(at: string): Promise<Page> {
  const opened = await looking.open(at)
  opened.setDefaultTimeout(LOOK_MS)
  return opened
}

const go = async (key: string, name: string) => {
  await page.keyboard.press('g')
  await page.keyboard.press(key)
  await page.getByRole('heading', { level: 1, name }).waitFor()
}
const rowOf = (agent: string) =>
  page.getByRole('table', { name: 'Agents' }).getByRole('row').filter({ hasText: agent })
const figure = (name: string) => page.locator('.card').filter({ hasText: name }).locator('b')

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'chimera-story-'))
  ;[looking] = await Promise.all([openBrowser(), start()])
}, PATIENCE_MS)

afterAll(async () => {
  await looking?.close()
  network?.signal('SIGINT')
  await network?.ended
  await rm(cwd, { recursive: true, force: true })
}, PATIENCE_MS)

describe('from `npm start` to a post', { timeout: PATIENCE_MS }, () => {
  test('SK-16 the printed address shows six agents, one at work for another', async () => {
    page = await look(address)
    await page.getByText('Live', { exact: true }).waitFor()
    assert.equal(new URL(page.url()).hash, '', 'a token stays in nobody’s address bar')
    await rowOf('chimera-orchestrator').getByText('working').waitFor()
    assert.equal(await figure('Here now').textContent(), '6')
    // Drawn as soon as somebody is hired, with nobody's help.
    await page.locator('.graph .edge').nth(1).waitFor({ state: 'attached' })
  })

  test('a text comes to wait, and the three things to try do as they say', async () => {
    await go('r', 'Review')
    const letter = page.locator('.letters a').first()
    await letter.waitFor({ timeout: 2 * LOOK_MS }).catch(async (cause: unknown) => {
      throw new Error(`nothing waits: ${await page.locator('main').innerText()}`, { cause })
    })
    await page.getByRole('navigation').locator('.count').getByText('1').waitFor()
    const ran = await Promise.all(hints.map((hint) => npmStart(hint.split(' '), cwd).ended))
    const found = ran.map(({ status, heard }, at) => {
      const shows = SHOWN[hints[at] ?? '']
      return status === 0 && shows?.test(heard) ? 'shown' : heard
    })
    assert.deepEqual(found, ['shown', 'shown', 'shown'], hints.join(', '))
  })

  test('P-5 by keyboard alone it is approved, published, and its page opens', async () => {
    await page.keyboard.press('j')
    const shown = await page.getByRole('article').locator('.words').textContent()
    await page.keyboard.press('a')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Enter')
    await page.locator('.outcome').getByText('Approved').waitFor()
    await go('c', 'Campaigns')
    const published = page.getByRole('region', { name: 'Published' })
    await published.getByText('published', { exact: true }).waitFor()
    await page.getByRole('table').getByText('completed').waitFor()
    const link = published.getByRole('link', { name: 'Post' })
    post = new URL((await link.getAttribute('href')) ?? '').pathname
    const [opened] = await Promise.all([page.waitForEvent('popup'), link.click()])
    await opened.getByText('Published', { exact: true }).waitFor()
    const [first = ''] = (shown ?? '').split('\n')
    assert.ok(((await opened.textContent('body')) ?? '').includes(first), first)
    await opened.close()
  })

  test('P-10 it is paid, the books balance, and the ratings moved', async () => {
    const row = page.getByRole('row').filter({ hasText: 'Town square' })
    const spent = Number.parseFloat((await row.getByText(/^[\d.]+ of 5\.00/).textContent()) ?? '')
    assert.ok(spent >= 0.6, `${spent}`)
    await go('m', 'Money')
    await page.getByText('balanced to the hundredth').waitFor()
    await page.getByText('Nothing is put aside').waitFor()
    // What the owner paid for the campaign, and what the campaign paid out of it.
    const volume = (10 + spent).toFixed(2)
    paid = await page.getByText(new RegExp(`^\\d+ payments, ${volume} in all`)).innerText()
    await go('n', 'Network')
    for (const agent of ['content-creator', 'distribution-manager', 'trend-analyst']) {
      const score = rowOf(agent).locator('td').nth(5)
      await score.getByText(/^0\.9\d\d$/).waitFor()
    }
    assert.equal(await figure('Open work').textContent(), '0')
    await rowOf('content-creator').getByRole('link').first().click()
    const why = page.getByRole('table', { name: 'Why the scores moved' })
    await why.getByText('Done').first().waitFor()
  })

  test('the whole trail is verified in the browser, at the operator’s address', async () => {
    await go('a', 'Audit')
    await page.getByText('An operator verifies it').waitFor()
    const own = await look(operator)
    await own.getByRole('link', { name: 'Audit' }).click()
    await own.getByRole('button', { name: 'Verify in this browser' }).click()
    await own.getByText(/^Whole: \d+ facts hashed and linked/).waitFor()
    await own.getByText('The hub’s own books say the same.').waitFor()
    await own.getByLabel('Kind').fill('approval used')
    await own.getByRole('button', { name: 'Search' }).click()
    await own.locator('.fact').getByText('Approval used').waitFor()
    await own.context().close()
  })

  test('Ctrl-C drains, the page says so, and the next start has everything', async () => {
    network.signal('SIGINT')
    await page.getByText('The connection to the hub is cut').waitFor()
    const { status, heard } = await network.ended
    assert.equal(status, 0, heard)
    await page.context().close()
    await start()
    page = await look(address)
    await rowOf('chimera-orchestrator').getByText('idle').waitFor()
    await go('c', 'Campaigns')
    const published = page.getByRole('region', { name: 'Published' })
    await published.getByText('published', { exact: true }).waitFor()
    // Where it is found now, whatever port it was published at.
    const again = await published.getByRole('link', { name: 'Post' }).getAttribute('href')
    assert.equal(again, post)
    await go('m', 'Money')
    await page.getByText(paid).waitFor()
    const answer = await page.goto(new URL(post, address).href)
    assert.match((await answer?.text()) ?? '', /A post for Twitter/)
  })

  test('nothing was asked of anybody else, and nothing failed', () => {
    assert.deepEqual(looking.faults(), [])
  })
})
