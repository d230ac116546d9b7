/**
 * Several people and a network that is not always there, in a real Chromium: two who review the
 * same text, two who operate the same hub, a connection that is cut and mended, a hub that starts
 * anew under an open page; and what strangers wrote, on every screen that shows it.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, createAgent, type Network } from '@chimera/agent'
import type { CampaignSeen } from '@chimera/dialects/chimera'
import { runHub } from '@chimera/hub/testing/running'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { type Line, type Looking, layLine, openBrowser, PAGE } from './browsing.ts'
import { type Desk, openDesk } from './desk.ts'
import { shorten } from './world.ts'

/** Markup, a turned direction, and a word that no line is long enough for. */
const LONG = 'Donaudampfschifffahrt'.repeat(6)
const HOSTILE = `<img src=x onerror=alert(1)> \u202Egnp.exe ${LONG}`
const SHOWN = `<img src=x onerror=alert(1)> ⟨202e⟩gnp.exe ${LONG}`
const OWNER = '"><script>alert(2)</script>'
const CUT = 'The connection to the hub is cut'

let desk: Desk
let looking: Looking
let line: Line
let hirer: Network
let operator: string
let stranger: ReturnType<typeof createAgent>

beforeAll(async () => {
  ;[desk, looking] = await Promise.all([openDesk(PAGE, OWNER), openBrowser()])
  operator = desk.hub.firstOperatorToken ?? ''
  const { token, hub } = desk
  hirer = connect({ hub: hub.address, owner: OWNER, token })
  stranger = createAgent({
    name: HOSTILE,
    owner: OWNER,
    token,
    hub: hub.address,
    skills: [shorten],
    directory: false,
    signals: false,
    log: 'silent',
  })
  ;[line] = await Promise.all([layLine(hub.address), stranger.start()])
})
afterAll(async () => {
  await looking?.close()
  await line?.close()
  await hirer?.close()
  await stranger?.stop()
  await desk?.stop()
})

const open = (path: string, token = desk.token, how = {}) =>
  looking.open(`${line.address}/console/${path}#token=${token}`, how)
const live = (page: Page) => page.getByText('Live', { exact: true })
const outcome = (page: Page) => page.locator('.outcome')
const tokenFor = async (scopes: readonly string[], as = desk.token) => {
  const { status, body } = await desk.send('/v1/tokens', { scopes }, as)
  assert.equal(status, 201, JSON.stringify(body))
  return String(body.token)
}
const hire = async (text: string) => {
  const terms = { budget: 1, deadline: '30s' } as const
  return (await hirer.hire('summarise', { text }, terms)).task
}

describe('a campaign on its way', () => {
  test('is told where one waits for it: what is being done, and since when', async () => {
    const began_at = new Date().toISOString()
    const step = { step: 'filter', skill: 'semantic_filter', attempts: 1, cost: 0, began_at }
    await desk.tell({ steps: [{ ...step, state: 'running' }] })
    const page = await open('review')
    await page.getByText('is on its way: Semantic filter for').waitFor()
    await page.getByRole('link', { name: 'Campaigns' }).click()
    await page.getByRole('table').getByText('Semantic filter for').waitFor()
    await page.context().close()
  })
})

describe('two at once', () => {
  test('P-5 of two reviewers one approves; the other sees it, and cannot do so again', async () => {
    const laid = await desk.lay({ captions: 'A text that two people look at.' })
    const tokens = await Promise.all([1, 2].map(() => tokenFor(['read', 'review'])))
    const [one, other] = await Promise.all(
      tokens.map((token) => open(`review/${laid.review_id}`, token)),
    )
    assert.ok(one && other)
    await Promise.all([one, other].map((each) => each.getByRole('article').waitFor()))
    // As if the other had not heard yet: it has asked before the first one answers.
    await other.route('**/v1/reviews**', (route) =>
      route.request().method() === 'GET' ? route.abort() : route.continue(),
    )
    await other.keyboard.press('a')
    await other.getByRole('dialog').waitFor()
    await one.keyboard.press('a')
    await one.getByRole('dialog').waitFor()
    await one.keyboard.press('Enter')
    await outcome(one).getByText('Approved').waitFor()
    await other.keyboard.press('Enter')
    await other
      .getByRole('dialog')
      .getByText(/Somebody has answered this review/)
      .waitFor()
    await other.unroute('**/v1/reviews**')
    // By itself: the dialog goes, and what came of it is there.
    await outcome(other).getByText('Approved').waitFor()
    await other.getByRole('dialog').waitFor({ state: 'detached' })
    assert.equal(await other.getByRole('button', { name: 'Approve' }).count(), 0)
    await other.keyboard.press('a')
    assert.equal(await other.getByRole('dialog').count(), 0)
    const { reviewer = '' } = await desk.show(laid)
    for (const each of [one, other]) await outcome(each).getByText(reviewer).waitFor()
    await Promise.all([one, other].map((each) => each.context().close()))
  })

  test('SF-11 of two operators one gives an order; the other sees it in force', async () => {
    const second = await tokenFor(['read', 'operate'], operator)
    const [one, other] = await Promise.all([operator, second].map((each) => open('operate', each)))
    assert.ok(one && other)
    await other.getByText('No order').or(other.getByText('Orders in force')).first().waitFor()
    await one.getByRole('button', { name: 'Turn off' }).click()
    await one.getByRole('dialog').getByRole('button', { name: 'Turn off' }).click()
    for (const each of [one, other]) {
      await each
        .getByRole('table', { name: 'Orders in force' })
        .getByText('Publishing off')
        .waitFor()
      await each.context().close()
    }
  })
})

describe('a connection that is cut', () => {
  test('is told on every screen; mended it goes on where it was and misses nothing', async () => {
    const laid = await desk.lay({ captions: 'A text that is answered when nobody can be heard.' })
    const page = await open('work')
    await live(page).waitFor()
    const before = await hire('Before the cut. And more.')
    await page.locator(`a[href$="${before}"]`).waitFor()
    const resumed: string[] = []
    page.on('request', (asked) => {
      const place = asked.headers()['last-event-id']
      if (asked.url().endsWith('/v1/live') && place !== undefined) resumed.push(place)
    })
    line.cut()
    const task = await hire('While it is cut. And more.')
    for (const [key, name] of [
      ['n', 'Network'],
      ['c', 'Campaigns'],
      ['r', 'Review'],
      ['m', 'Money'],
      ['a', 'Audit'],
      ['w', 'Work'],
    ] as const) {
      await page.keyboard.press('g')
      await page.keyboard.press(key)
      await page.getByRole('heading', { level: 1, name }).waitFor()
      await page.getByText(CUT).waitFor()
    }
    assert.equal(await page.locator(`a[href$="${task}"]`).count(), 0)
    line.mend()
    await live(page).waitFor()
    const row = page.getByRole('row').filter({ has: page.locator(`a[href$="${task}"]`) })
    await row.getByText('paid', { exact: true }).waitFor()
    assert.equal(await row.count(), 1)
    assert.equal(await page.getByText(CUT).count(), 0)
    assert.ok(resumed.length > 0, 'behind the last event that it had')
    await page.goto(`${line.address}/console/review/${laid.review_id}`)
    await page.getByRole('article').waitFor()
    // An answer that cannot be sent is not taken for one that was.
    line.cut()
    await page.getByText(CUT).waitFor()
    await page.keyboard.press('a')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').getByText('The hub does not answer').waitFor()
    assert.equal((await desk.show(laid)).state, 'pending')
    line.mend()
    await live(page).waitFor()
    await page.keyboard.press('Enter')
    await outcome(page).getByText('Approved').waitFor()
    assert.equal((await desk.show(laid)).state, 'approved')
    await page.context().close()
  })
})

describe('a hub that starts anew under an open page', () => {
  test('knows its token again without a word; another hub does not, and asks', async () => {
    const data = await mkdtemp(join(tmpdir(), 'chimera-anew-'))
    const settings = { auth: 'required', page: PAGE, data } as const
    const first = await runHub(settings)
    const way = await layLine(first.address)
    const page = await looking.open(
      `${way.address}/console/audit#token=${first.firstOperatorToken}`,
    )
    await live(page).waitFor()
    await first.stop()
    await page.getByText(CUT).waitFor()
    const second = await runHub(settings)
    way.leadTo(second.address)
    await page.getByRole('button', { name: 'Try now' }).click()
    await live(page).waitFor()
    assert.equal(await page.getByLabel('Token').count(), 0)
    await page.getByRole('button', { name: 'Verify in this browser' }).click()
    await page.getByText(/^Whole: \d+ facts/).waitFor()
    // Another one at the same address: nobody it knows.
    way.cut()
    await page.getByText(CUT).waitFor()
    way.leadTo(desk.hub.address)
    way.mend()
    await page.getByLabel('Token').waitFor()
    await page.getByRole('alert').waitFor()
    assert.equal(await page.getByRole('navigation').count(), 0)
    await page.context().close()
    await way.close()
    await second.stop()
    await rm(data, { recursive: true, force: true })
  })

  test('an address with a token that is none leads to the door, and keeps nothing', async () => {
    const page = await open('money', 'chm_owner_of-yesterday')
    await page.getByRole('alert').waitFor()
    await page.getByLabel('Token').fill(desk.token)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { level: 1, name: 'Money' }).waitFor()
    assert.ok(!page.url().includes('#'), page.url())
    await page.context().close()
  })
})

describe('strangers’ words', () => {
  const at = (second: number) => new Date(1_790_000_000_000 + second * 1_000).toISOString()
  const campaign = randomUUID()
  let paths: readonly (readonly [path: string, shown: string, token: string])[]

  beforeAll(async () => {
    const task = await hire(HOSTILE)
    const { review_id } = await desk.lay(
      { captions: HOSTILE },
      {
        campaign_id: campaign,
        issues: [{ rule: 'claim', severity: 'error', message: HOSTILE }],
        sources: [{ url: 'https://news.example/library', title: HOSTILE }],
      },
    )
    const piece: CampaignSeen['pieces'][number] = {
      piece_id: randomUUID(),
      topic: HOSTILE,
      platform: 'twitter',
      review_id,
      moments: [{ state: 'approval_pending', at: at(0), words: HOSTILE }],
    }
    await desk.tell({
      campaign_id: campaign,
      name: HOSTILE.slice(0, 100),
      goals: [HOSTILE],
      persona: HOSTILE.slice(0, 100),
      pieces: [piece],
      steps: [
        {
          step: 'filter',
          skill: 'semantic_filter',
          state: 'failed',
          attempts: 1,
          cost: 0,
          began_at: at(0),
          ended_at: at(1),
          words: HOSTILE,
        },
      ],
    })
    const { token } = desk
    paths = [
      ['network', SHOWN, token],
      [`network/${stranger.id()}`, SHOWN, token],
      ['work', SHOWN, token],
      [`work/${task}`, SHOWN, token],
      ['campaigns', SHOWN, token],
      [`campaigns/${campaign}`, SHOWN, token],
      ['review', SHOWN, token],
      [`review/${review_id}`, SHOWN, token],
      ['money', OWNER, token],
      ['audit', OWNER, token],
      ['audit', SHOWN, operator],
      ['operate', 'Operate', operator],
    ]
  })

  test('are words on every screen, the narrowest too; times are exact on hover', async () => {
    const viewport = { width: 390, height: 844 }
    for (const token of [desk.token, operator]) {
      const page = await open('network', token, { viewport })
      for (const [path, shown] of paths.filter(([, , whose]) => whose === token)) {
        await page.goto(`${line.address}/console/${path}`)
        await page.locator('main').getByText(shown).filter({ visible: true }).first().waitFor()
        assert.equal(await page.locator('main img, main script').count(), 0, path)
        const wide = Number(await page.evaluate('document.documentElement.scrollWidth'))
        assert.ok(wide <= viewport.width, `${path} is ${wide} wide`)
        assert.equal(await page.locator('time:not([title])').count(), 0, path)
      }
      await page.context().close()
    }
  })

  test('nothing ran that should not, nothing failed, nothing was asked of anybody else', () => {
    assert.deepEqual(looking.faults(), [])
  })
})
