/**
 * The page in a real Chromium, against a real hub with agents that work for each other: what it
 * shows, that it stays live, what it does with hostile words, by keyboard, and on a small screen.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { type Looking, layLine, openBrowser, PAGE, seriousFindings } from './browsing.ts'
import { countWords, openWorld, shorten, type World } from './world.ts'

const HOSTILE = '<img src=x onerror=alert(1)> \u202Egnp.exe'
const SCREENS = ['network', 'work', 'money', 'audit', 'operate'] as const

let world: World
let looking: Looking
const at = (path: string) => `${world.hub.address}/console/${path}`
/** By looking from outside: the page's policy lets nobody evaluate text in it. */
const onlyOne = async (found: Locator) => {
  await found.nth(1).waitFor({ state: 'detached' })
  await found.first().waitFor()
  assert.equal(await found.count(), 1)
}
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name })

beforeAll(async () => {
  const citizens = [
    { name: 'Word Counter', owner: 'bolt', skills: [countWords] },
    { name: HOSTILE, owner: '"><script>alert(2)</script>', skills: [shorten] },
  ] as const
  ;[world, looking] = await Promise.all([openWorld(citizens, { page: PAGE }), openBrowser()])
  await hire()
})
afterAll(async () => {
  await looking?.close()
  await world?.stop()
})

const hire = async () => {
  const terms = { budget: 0.1, deadline: '30s' } as const
  const { task } = await world.network('acme').hire('word_count', { text: 'a b c' }, terms)
  return task
}

describe('the network', () => {
  test('shows who is here, with both scores, and strangers’ words as words', async () => {
    const page = await looking.open(at('network'))
    await page.getByRole('link', { name: 'Word Counter' }).first().waitFor()
    const table = page.getByRole('table', { name: 'Agents' })
    const row = table.getByRole('row').filter({ hasText: 'bolt' })
    assert.match((await row.textContent()) ?? '', /idle.*50|51/)
    const hostile = await table.getByText('<img src=x').textContent()
    assert.equal(hostile, '<img src=x onerror=alert(1)> ⟨202e⟩gnp.exe')
    assert.equal(await table.getByText('"><script>alert(2)</script>').count(), 1)
    assert.equal(await page.locator('main img, main script').count(), 0)
    await page.context().close()
  })

  test('filters, and says so when nobody fits', async () => {
    const page = await looking.open(at('network'))
    await page.getByLabel('Search agents').fill('bolt')
    const table = page.getByRole('table', { name: 'Agents' })
    await onlyOne(page.locator('[aria-label="Agents"] tbody tr'))
    assert.match((await table.textContent()) ?? '', /Word Counter/)
    await page.getByLabel('Search agents').fill('nobody at all')
    await page.getByText('Nobody fits').waitFor()
    await page.context().close()
  })

  test('has a page for each agent: skills, schemas, presence, work, keys', async () => {
    const page = await looking.open(at(`network/${world.agents.get('Word Counter')}`))
    await heading(page, 'Word Counter').waitFor()
    await page.getByText('Counts the words of a text.').waitFor()
    await page.getByText('Schemas').click()
    await page.getByText('"maxLength": 10000').first().waitFor()
    await page.getByText('Done in time').first().waitFor()
    await page.getByRole('table', { name: 'Hires' }).getByText('acme').first().waitFor()
    await page.getByRole('img', { name: /Heard for/ }).waitFor()
    await page.getByRole('table', { name: 'Keys' }).getByText('speaks').waitFor()
    await page.context().close()
  })
})

describe('live', () => {
  test('a hire appears by itself, and its timeline to the last payment', async () => {
    const page = await looking.open(at('work'))
    await page.getByRole('table', { name: 'Hires' }).waitFor()
    const task = await hire()
    await page.locator(`a[href$="${task}"]`).click()
    const line = page.getByRole('region', { name: 'Timeline' })
    await line.getByText('0.05 credits were put aside').waitFor()
    await line.getByText('The result was handed over').waitFor()
    await line.getByText('0.05 credits were paid').waitFor()
    await page.getByText('"words": 3').waitFor()
    await page.context().close()
  })

  test('after a cut it says so, goes on where it was, and misses nothing', async () => {
    const line = await layLine(world.hub.address)
    const page = await looking.open(`${line.address}/console/work`)
    await page.getByText('Live', { exact: true }).waitFor()
    line.cut()
    await page.getByText('The connection to the hub is cut').waitFor()
    const task = await hire()
    assert.equal(await page.locator(`a[href$="${task}"]`).count(), 0)
    line.mend()
    await page.getByText('Live', { exact: true }).waitFor()
    const row = page.getByRole('row').filter({ has: page.locator(`a[href$="${task}"]`) })
    await row.getByText('paid', { exact: true }).waitFor()
    assert.equal(await row.count(), 1)
    assert.equal(await page.getByText('The connection to the hub is cut').count(), 0)
    await page.context().close()
    await line.close()
  })
})

test('a hire that nobody has accepted is cancelled, after it was said what that does', async () => {
  const task = randomUUID()
  const placed = await world.hub.post('/v1/holds', {
    payer_id: 'acme',
    agent_id: world.agents.get('Word Counter'),
    task_id: task,
    amount: 2.5,
    expires_at: new Date(Date.now() + 3_600_000).toISOString(),
  })
  assert.equal(placed.status, 201)
  const page = await looking.open(at(`work/${task}`))
  await page.getByRole('button', { name: 'Cancel' }).click()
  const dialog = page.getByRole('dialog')
  assert.match((await dialog.textContent()) ?? '', /2\.50 credits is released to acme/)
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await page.getByText('The payer withdrew; the credits are back').waitFor()
  await page.context().close()
})

test('P-10 money adds up, and the chain is verified in the browser', async () => {
  const page = await looking.open(at('money'))
  await page.getByText('balanced to the hundredth').waitFor()
  await page.getByRole('link', { name: 'Verify the chain' }).click()
  await page.getByRole('button', { name: 'Verify in this browser' }).click()
  await page.getByText(/Whole: \d+ facts hashed and linked/).waitFor()
  await page.getByText(/^Balanced: minted/).waitFor()
  await page.getByText('The hub’s own books say the same.').waitFor()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export' }).click(),
  ])
  assert.match(download.suggestedFilename(), /^trail-\d+\.jsonl$/)
  await page.context().close()
})

test('the audit is searched by correlation and task, and says when nothing fits', async () => {
  const task = await hire()
  const page = await looking.open(at(`audit?correlation=${task}`))
  await page.getByText('Credits held').waitFor()
  await page.getByLabel('Correlation id').fill('')
  await page.getByLabel('Task').fill(task)
  await page.getByLabel('Kind').fill('hold captured')
  await page.getByRole('button', { name: 'Search' }).click()
  await page.getByText('Hold captured').waitFor()
  await onlyOne(page.locator('.fact'))
  await page.getByLabel('Kind').fill('nothing of the kind')
  await page.getByRole('button', { name: 'Search' }).click()
  await page.getByText('No fact fits').waitFor()
  await page.context().close()
})

test('by keyboard alone: go, search, move, open, close', async () => {
  const page = await looking.open(at('network'))
  await page.getByRole('table', { name: 'Agents' }).waitFor()
  await page.keyboard.press('Tab')
  assert.equal(await page.evaluate('document.activeElement.className'), 'skip')
  await page.keyboard.press('g')
  await page.keyboard.press('m')
  await heading(page, 'Money').waitFor()
  assert.equal(await page.evaluate('document.activeElement.id'), 'main')
  await page.keyboard.press('g')
  await page.keyboard.press('n')
  await page.getByRole('table', { name: 'Agents' }).waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('bolt')
  await onlyOne(page.locator('[aria-label="Agents"] tbody tr'))
  await page.getByRole('table', { name: 'Agents' }).getByRole('link').first().focus()
  await page.keyboard.press('Enter')
  await heading(page, 'Word Counter').waitFor()
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keys' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog', { name: 'Keys' }).waitFor({ state: 'detached' })
  await page.goBack()
  await page.getByRole('table', { name: 'Agents' }).waitFor()
  await page.context().close()
})

describe('every screen', () => {
  for (const [colorScheme, width] of [
    ['light', 1440],
    ['dark', 390],
  ] as const) {
    test(`${colorScheme}, ${width} wide: axe is content, nothing scrolls sideways`, async () => {
      const page = await looking.open(at('network'), {
        colorScheme,
        viewport: { width, height: 844 },
      })
      const paths = [
        ...SCREENS,
        `network/${world.agents.get('Word Counter')}`,
        `work/${await hire()}`,
      ]
      for (const path of paths) {
        await page.goto(at(path))
        await page.locator('h1').first().waitFor()
        await page.locator('.panel').first().waitFor()
        assert.deepEqual(await seriousFindings(page), [], path)
        const wide = Number(await page.evaluate('document.documentElement.scrollWidth'))
        assert.ok(wide <= width, `${path} is ${wide} wide`)
      }
      await page.context().close()
    })
  }

  test('nothing was asked of anybody else, nothing ran that should not, nothing failed', () => {
    assert.deepEqual(looking.faults(), [])
  })
})
