/**
 * The page in a real Chromium, against a real hub with agents that work for each other: what it
 * shows, that it stays live, what it does with hostile words, by keyboard, and on a small screen.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { goTo, type Looking, openBrowser, PAGE, seriousFindings } from './browsing.ts'
import { countWords, FOR_EVER, openWorld, shorten, type World } from './world.ts'

const HOSTILE = '<img src=x onerror=alert(1)> \u202Egnp.exe'
const SCREENS = ['network', 'work', 'money', 'audit', 'operate'] as const

let world: World
let looking: Looking
/** One for all that look at the same network; where they were before does not matter. */
let page: Page
let task: string
const at = (path: string) => `${world.hub.address}/console/${path}`
/** By looking from outside: the page's policy lets nobody evaluate text in it. */
const onlyOne = async (found: Locator) => {
  await found.nth(1).waitFor({ state: 'detached' })
  await found.first().waitFor()
  assert.equal(await found.count(), 1)
}
const heading = (name: string) => page.getByRole('heading', { level: 1, name })

beforeAll(async () => {
  const citizens = [
    { name: 'Word Counter', owner: 'bolt', skills: [countWords] },
    { name: HOSTILE, owner: '"><script>alert(2)</script>', skills: [shorten] },
  ] as const
  ;[world, looking] = await Promise.all([openWorld(citizens, { page: PAGE }), openBrowser()])
  task = await hire()
  page = await looking.open(at('network'))
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
    await goTo(page, 'network')
    await page.getByRole('link', { name: 'Word Counter' }).first().waitFor()
    const table = page.getByRole('table', { name: 'Agents' })
    const row = table.getByRole('row').filter({ hasText: 'bolt' })
    assert.match((await row.textContent()) ?? '', /idle.*50|51/)
    const hostile = await table.getByText('<img src=x').textContent()
    assert.equal(hostile, '<img src=x onerror=alert(1)> ⟨202e⟩gnp.exe')
    assert.equal(await table.getByText('"><script>alert(2)</script>').count(), 1)
    assert.equal(await page.locator('main img, main script').count(), 0)
  })

  test('filters, and says so when nobody fits', async () => {
    await goTo(page, 'network')
    await page.getByLabel('Search agents').fill('bolt')
    const table = page.getByRole('table', { name: 'Agents' })
    await onlyOne(page.locator('[aria-label="Agents"] tbody tr'))
    assert.match((await table.textContent()) ?? '', /Word Counter/)
    await page.getByLabel('Search agents').fill('nobody at all')
    await page.getByText('Nobody fits').waitFor()
  })

  test('has a page for each agent: skills, schemas, presence, work, keys', async () => {
    await goTo(page, `network/${world.agents.get('Word Counter')}`)
    await heading('Word Counter').waitFor()
    await page.getByText('Counts the words of a text.').waitFor()
    await page.getByText('Schemas').click()
    await page.getByText('"maxLength": 10000').first().waitFor()
    await page.getByText('Done in time').first().waitFor()
    await page.getByRole('table', { name: 'Hires' }).getByText('acme').first().waitFor()
    const band = page.getByRole('region', { name: 'Presence' })
    await band.getByRole('img', { name: /Heard for/ }).waitFor()
    await band.locator('.legend').getByText('available').waitFor()
    await page.getByRole('table', { name: 'Keys' }).getByText('speaks').waitFor()
  })
})

describe('live', () => {
  test('a hire appears by itself, and its timeline to the last payment', async () => {
    await goTo(page, 'work')
    await page.getByRole('table', { name: 'Hires' }).waitFor()
    const own = await hire()
    await page.locator(`a[href$="${own}"]`).click()
    const line = page.getByRole('region', { name: 'Timeline' })
    await line.getByText('Rated: its running score is').waitFor()
    const steps = await line.locator('li > span').allTextContents()
    // Both sides settle; who comes first differs.
    const [paid, ended] = ['0.05 credits were paid', 'The result was handed over']
    const isPaidFirst = steps.indexOf(paid) < steps.indexOf(ended)
    assert.deepEqual(steps.slice(0, 5), [
      'Found, the only one who offers word_count',
      '0.05 credits were put aside',
      'Asked, the agent accepted at 0.05',
      ...(isPaidFirst ? [paid, ended] : [ended, paid]),
    ])
    await page.getByText('"words": 3').waitFor()
  })

  test('what failed is found by its tab, and says why in words', async () => {
    const terms = { budget: 1, deadline: '30s' } as const
    await assert.rejects(world.network('acme').hire('summarise', { text: '' }, terms))
    await goTo(page, 'work?tab=failed')
    const rows = page.getByRole('table', { name: 'Hires' }).locator('tbody tr')
    await rows.getByRole('link').first().click()
    const line = page.getByRole('region', { name: 'Timeline' })
    await line.getByText('It failed; the credits are back').waitFor()
    assert.match((await line.locator('.said').textContent()) ?? '', /\w{4}/)
  })
})

test('a hire that nobody has accepted is called off, once it was said what that does', async () => {
  const held = randomUUID()
  const placed = await world.hub.post('/v1/holds', {
    payer_id: 'acme',
    agent_id: world.agents.get('Word Counter'),
    task_id: held,
    amount: 2.5,
    expires_at: new Date(Date.now() + 3_600_000).toISOString(),
  })
  assert.equal(placed.status, 201)
  await goTo(page, `work/${held}`)
  await page.getByRole('button', { name: 'Call it off' }).click()
  const dialog = page.getByRole('dialog')
  assert.match((await dialog.textContent()) ?? '', /2\.50 credits is released to acme/)
  await dialog.getByRole('button', { name: 'Call it off' }).click()
  await page.getByText('The payer withdrew; the credits are back').waitFor()
})

test('OC-18 work that runs is called off: its agent stops, and nothing is paid', async () => {
  const terms = { budget: 1, deadline: '60s' } as const
  const hired = world.network('acme').hire('summarise', { text: FOR_EVER }, terms)
  const ended = assert.rejects(hired, { code: 'work_cancelled' })
  await goTo(page, 'work')
  await page.getByRole('row').filter({ hasText: 'working' }).getByRole('link').first().click()
  await page.getByRole('button', { name: 'Call it off' }).click()
  const dialog = page.getByRole('dialog')
  assert.match((await dialog.textContent()) ?? '', /asks its agent to stop/)
  await dialog.getByRole('button', { name: 'Call it off' }).click()
  await page.getByText('It was called off; the credits are back').waitFor()
  await ended
})

test('P-10 money adds up, and the chain is verified in the browser', async () => {
  await goTo(page, 'money')
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
  await page.getByText(/^Both scores of all 2 agents follow/).waitFor()
  const file = await readFile(await download.path(), 'utf8')
  const [claims = '', ...facts] = file.trimEnd().split('\n')
  const { format, head } = JSON.parse(claims) as { format: string; head: { seq: number } }
  assert.deepEqual([format, head.seq], ['chimera-audit-1', facts.length])
})

test('the audit is searched by correlation and task, and says when nothing fits', async () => {
  await goTo(page, `audit?correlation=${task}`)
  // Settled by the hirer's payment, which has an id of its own.
  for (const kind of ['Hold captured', 'Result recorded', 'Hold confirmed', 'Credits held']) {
    await page.locator('.fact').getByText(kind, { exact: true }).waitFor()
  }
  await page.getByLabel('Correlation id').fill('')
  await page.getByLabel('Task').fill(task)
  await page.getByLabel('Kind').fill('hold captured')
  await page.getByRole('button', { name: 'Search' }).click()
  await page.getByText('Hold captured').waitFor()
  await onlyOne(page.locator('.fact'))
  await page.getByLabel('Kind').fill('nothing of the kind')
  await page.getByRole('button', { name: 'Search' }).click()
  await page.getByText('No fact fits').waitFor()
})

test('by keyboard alone: go, search, move, open, close', async () => {
  await page.goto(at('network'))
  await page.getByRole('table', { name: 'Agents' }).waitFor()
  await page.keyboard.press('Tab')
  assert.equal(await page.evaluate('document.activeElement.className'), 'skip')
  await page.keyboard.press('g')
  await page.keyboard.press('m')
  await heading('Money').waitFor()
  assert.equal(await page.evaluate('document.activeElement.id'), 'main')
  await page.keyboard.press('g')
  await page.keyboard.press('n')
  await page.getByRole('table', { name: 'Agents' }).waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('bolt')
  await onlyOne(page.locator('[aria-label="Agents"] tbody tr'))
  await page.getByRole('table', { name: 'Agents' }).getByRole('link').first().focus()
  await page.keyboard.press('Enter')
  await heading('Word Counter').waitFor()
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keys' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog', { name: 'Keys' }).waitFor({ state: 'detached' })
  await page.goBack()
  await page.getByRole('table', { name: 'Agents' }).waitFor()
})

describe('every screen', () => {
  const paths: readonly (() => string)[] = [
    ...SCREENS.map((screen) => () => screen),
    () => `network/${world.agents.get('Word Counter')}`,
    () => `work/${task}`,
  ]
  for (const [colorScheme, width, checked] of [
    ['light', 1440, 'everything'],
    ['dark', 390, 'colours'],
  ] as const) {
    describe(`${colorScheme}, ${width} wide: axe is content, nothing scrolls sideways`, () => {
      beforeAll(async () => {
        await page.emulateMedia({ colorScheme })
        await page.setViewportSize({ width, height: 844 })
      })
      for (const [index, path] of paths.entries()) {
        test(SCREENS[index] ?? 'one of them', async () => {
          await goTo(page, path())
          await page.locator('.panel:not(:has(.waiting))').first().waitFor()
          assert.deepEqual(await seriousFindings(page, checked), [])
          const wide = Number(await page.evaluate('document.documentElement.scrollWidth'))
          assert.ok(wide <= width, `it is ${wide} wide`)
        })
      }
    })
  }

  test('nothing was asked of anybody else, nothing ran that should not, nothing failed', () => {
    assert.deepEqual(looking.faults(), [])
  })
})
