/** The page at a hub that asks who one is: the door, what a token shows, and the levers. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { CorrelationId } from '@chimera/domain/ids'
import { startReceiver } from '@chimera/hub/testing/receiving'
import { runHub, type TestHub } from '@chimera/hub/testing/running'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, test } from 'vitest'
import { goTo, type Looking, openBrowser, PAGE, seriousFindings } from './browsing.ts'

let hub: TestHub
let looking: Looking
let operator: string
let tries = 0

beforeAll(async () => {
  const providers = async () => {
    tries += 1
    const found = tries === 1 ? 'it does not answer' : 'three tools'
    return [{ what: 'MCP news', state: tries === 1 ? 'fails' : 'works', found } as const]
  }
  const wanted = { auth: 'required', allowNet: ['127.0.0.1'], page: PAGE, providers } as const
  ;[hub, looking] = await Promise.all([runHub(wanted), openBrowser()])
  operator = hub.firstOperatorToken ?? ''
})
afterAll(async () => {
  await looking?.close()
  await hub?.stop()
})

const ask = (path: string, token: string, method = 'GET', body?: object) =>
  hub.call(path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })

async function newOwner(owner: string) {
  const { status, body } = await ask('/v1/owners', operator, 'POST', { owner_id: owner })
  assert.equal(status, 201)
  return { owner, token: String(body.token), id: String(body.id) }
}

const open = (path = '') => looking.open(`${hub.address}/console/${path}`)

async function signIn(page: Page, token: string, kept = false) {
  await page.getByLabel('Token').fill(token)
  if (kept) await page.getByRole('checkbox').check()
  await page.getByRole('button', { name: 'Sign in' }).click()
}

const isKept = (page: Page, token: string) =>
  page.evaluate(
    `[...Object.values(localStorage), ...Object.values(sessionStorage), document.cookie, ` +
      `location.href, document.documentElement.outerHTML].join().includes('${token}')`,
  )

test('a bad token is refused in words, and the door stays', async () => {
  const page = await open()
  await signIn(page, 'chm_nonsense')
  await page.getByRole('alert').waitFor()
  assert.equal(await page.getByRole('navigation').count(), 0)
  assert.deepEqual(await seriousFindings(page), [])
  await page.context().close()
})

test('a token is kept nowhere, and a reload asks again', async () => {
  const page = await open('money')
  await signIn(page, operator)
  await page.getByRole('heading', { level: 1, name: 'Money' }).waitFor()
  await page.getByText('Live', { exact: true }).waitFor()
  assert.equal(await isKept(page, operator), false)
  await page.reload()
  await page.getByLabel('Token').waitFor()
  await page.context().close()
})

test('kept for the tab it survives a reload, and is gone after signing out', async () => {
  const page = await open()
  await signIn(page, operator, true)
  await page.getByText('Operator', { exact: true }).waitFor()
  await page.reload()
  await page.getByText('Operator', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('Token').waitFor()
  assert.equal(await isKept(page, operator), false)
  await page.context().close()
})

test('an owner sees its own, and not the operator’s screen', async () => {
  const { owner, token } = await newOwner('alice')
  const page = await open('operate')
  await signIn(page, token)
  await page.getByText('This screen is for operators').waitFor()
  await page.getByText(owner).waitFor()
  await page.getByRole('link', { name: 'Audit' }).click()
  await page.getByRole('heading', { level: 1, name: 'Audit' }).waitFor()
  assert.equal(await page.getByRole('button', { name: 'Verify in this browser' }).count(), 0)
  assert.equal(await page.getByRole('link', { name: 'Operate' }).count(), 0)
  await page.context().close()
})

test('SF-11 an operator turns publishing off, and sets the canary; both are in force', async () => {
  const page = await open('operate')
  await signIn(page, operator)
  await page.getByRole('button', { name: 'Turn off' }).click()
  const dialog = page.getByRole('dialog')
  assert.match((await dialog.textContent()) ?? '', /signed by the hub, and is a fact/)
  await dialog.getByRole('button', { name: 'Turn off' }).click()
  await page.getByRole('table', { name: 'Orders in force' }).getByText('Publishing off').waitFor()
  const { body } = await ask('/v1/control', operator)
  const [given] = body.orders as readonly { order: { action: string; enabled: boolean } }[]
  assert.deepEqual([given?.order.action, given?.order.enabled], ['publishing', false])
  await page.getByLabel('Share of the canary').fill('0.25')
  await page.getByRole('button', { name: 'Order', exact: true }).click()
  assert.match((await dialog.textContent()) ?? '', /25 % of the agents may publish/)
  await dialog.getByRole('button', { name: 'Order' }).click()
  await page.getByRole('table', { name: 'Orders in force' }).getByText('Canary 25 %').waitFor()
  await goTo(page, 'audit?kinds=control issued')
  await page.locator('.fact').nth(1).waitFor()
  await page.context().close()
})

test('P-8 what could not be delivered is an alert; both are looked after in the page', async () => {
  const receiver = await startReceiver({ status: 410 })
  const id = randomUUID()
  const about = { kind: 'work', id: 'task-1' }
  const letter = { id, to: `${receiver.url}/hook`, body: '{}', about }
  await hub.hub.keep.deliveries.enqueue({ ...letter, correlation: id as CorrelationId })
  await receiver.came(1)
  const page = await open('work?tab=letters')
  await signIn(page, operator)
  const row = page.getByRole('table', { name: 'Dead letters' }).getByRole('row').nth(1)
  await row.getByText('The address answered 410').waitFor()

  await goTo(page, 'operate')
  const alerts = page.getByRole('region', { name: 'Alerts' })
  await alerts.getByText('could not be delivered').first().waitFor()
  await alerts.getByRole('button', { name: 'Acknowledge' }).click()
  const dialog = page.getByRole('dialog')
  assert.match((await dialog.textContent()) ?? '', /recorded as a fact/)
  await dialog.getByRole('button', { name: 'Acknowledge' }).click()
  await alerts.getByText('somebody looks after it').waitFor()
  const providers = page.getByRole('table', { name: 'Feeds and providers' })
  await providers.getByText('it does not answer').waitFor()
  await page.getByRole('button', { name: 'Try them now' }).click()
  await dialog.getByRole('button', { name: 'Try them now' }).click()
  await providers.getByText('three tools').waitFor()

  receiver.behave({ status: 204 })
  await goTo(page, 'work?tab=letters')
  await row.getByRole('button', { name: 'Redeliver' }).click()
  assert.match((await dialog.textContent()) ?? '', /under the same id/)
  await dialog.getByRole('button', { name: 'Redeliver' }).click()
  await page.getByText('Everything was delivered').waitFor()
  assert.equal(receiver.seen.length, 2)
  await page.context().close()
  await receiver.close()
})

test('a token that is revoked ends what is shown', async () => {
  const { token, id } = await newOwner('bob')
  const page = await open()
  await signIn(page, token)
  await page.getByText('Live', { exact: true }).waitFor()
  assert.equal((await ask(`/v1/tokens/${id}`, token, 'DELETE')).status, 204)
  await page.getByLabel('Token').waitFor()
  await page.context().close()
})

test('nothing was asked of anybody else, and nothing failed', () => {
  assert.deepEqual(looking.faults(), [])
})
