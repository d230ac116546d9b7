/**
 * Hubs of one database as processes, while what they stand on fails: a hub is killed, the broker
 * and the database are restarted, a hub is cut off. Whoever was answered was answered right, money
 * moved once, and a reader that resumes wherever it can has every fact, once and in order.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type Line, openLine } from '@chimera/bus/testing/line'
import { type NatsServer, startNats } from '@chimera/bus/testing/nats-server'
import { type PostgresServer, startPostgres } from '@chimera/store/testing/postgres-server'
import { afterAll, beforeAll, test, vi } from 'vitest'
import { type HubProcess, startHubProcess } from './command.ts'

const GRANT = 1_000
const TIMES = 100
const LONG = { timeout: 180_000 }

let postgres: PostgresServer
let broker: NatsServer
let line: Line
let database = ''
let hubs: HubProcess[] = []

function start(bus: string): Promise<HubProcess> {
  const common = ['--listen', '127.0.0.1:0', '--grant', String(GRANT), '--requests-per-minute', '0']
  return startHubProcess([...common, '--database', database, '--bus', bus])
}

beforeAll(async () => {
  ;[postgres, broker] = await Promise.all([startPostgres(), startNats()])
  line = await openLine(broker.port)
  database = await postgres.newAddress()
  const first = await start(broker.address)
  hubs = [first, ...(await Promise.all([start(broker.address), start(line.address)]))]
}, 180_000)
afterAll(async () => {
  await Promise.all(hubs.map((each) => each.stop()))
  await line.close()
  await Promise.all([broker.stop(), postgres.stop()])
}, 60_000)

const hubAt = (place: number): HubProcess => hubs[place % hubs.length] ?? assert.fail('no hub')
const soon = <T>(holds: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(holds, { timeout: 20_000, interval: 50 })

type Body = Record<string, unknown>
type Answer = { readonly status: number; readonly body: Body }

async function ask(hub: HubProcess, path: string, body?: unknown): Promise<Answer> {
  const headers = { 'content-type': 'application/json' }
  const sent = body === undefined ? {} : { method: 'POST', headers, body: JSON.stringify(body) }
  // One that is cut off from its database must not keep the test.
  const answer = await fetch(hub.address + path, { ...sent, signal: AbortSignal.timeout(10_000) })
  return { status: answer.status, body: (await answer.json()) as Body }
}

async function newAccounts(): Promise<{ readonly payer: string; readonly payee: string }> {
  const accounts = { payer: `payer-${randomUUID()}`, payee: `payee-${randomUUID()}` }
  for (const owner_id of Object.values(accounts)) {
    assert.equal((await ask(hubAt(0), '/accounts', { owner_id })).status, 201)
  }
  return accounts
}

const order = ({ payer, payee }: { readonly payer: string; readonly payee: string }) => ({
  transfer_id: randomUUID(),
  from_owner: payer,
  to_owner: payee,
  amount: 1,
  job_id: randomUUID(),
})

async function balance(hub: HubProcess, owner: string): Promise<unknown> {
  return (await ask(hub, `/accounts/${owner}`)).body.balance
}

test('P-3 P-4 the same key 100 times at two hubs, one is killed: one effect', LONG, async () => {
  const accounts = await newAccounts()
  const one = order(accounts)
  const told: Answer[] = []
  const victim = hubAt(1)
  let killed: Promise<unknown> | undefined
  await Promise.all(
    Array.from({ length: TIMES }, async (_, at) => {
      const answer = await ask(hubAt(at % 2), '/transfer', one).catch(() => undefined)
      if (answer === undefined) return
      told.push(answer)
      if (told.length >= TIMES / 5) killed ??= victim.kill()
    }),
  )
  await killed
  assert.ok(told.length >= TIMES / 2, 'all that asked the other were answered')
  told.push(await ask(hubAt(0), '/transfer', one), await ask(hubAt(2), '/transfer', one))
  for (const { status, body } of told) {
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual(body.transfer, told[0]?.body.transfer, 'one movement, whoever asks')
  }
  for (const hub of [hubAt(0), hubAt(2)]) {
    assert.equal(await balance(hub, accounts.payer), GRANT - 1)
    assert.equal(await balance(hub, accounts.payee), GRANT + 1)
  }
  hubs[1] = await start(broker.address)
})

test('P-7 P-3 whatever fails, a reader has every fact once, in order', LONG, async () => {
  const accounts = await newAccounts()
  const paying = payOnAndOn(accounts)
  const reader = readOnAndOn(1)
  const goesOn = async (what: string) => {
    const [paid, read] = [paying.paid(), reader.seqs().length]
    await soon(() => assert.ok(paying.paid() > paid + 5, `no payment after ${what}`))
    await soon(() => assert.ok(reader.seqs().length > read + 5, `no event after ${what}`))
  }
  await goesOn('the start')

  const victim = hubAt(reader.at())
  const place = hubs.indexOf(victim)
  await victim.kill()
  await goesOn('a hub was killed')
  hubs[place] = await start(place === 2 ? line.address : broker.address)

  await broker.kill()
  await goesOn('the broker went')
  await broker.start()
  await goesOn('the broker came back')

  await postgres.halt()
  await postgres.resume()
  await goesOn('the database was restarted')

  line.cut()
  await goesOn('a hub was cut off')
  line.mend()

  const paid = await paying.end()
  for (const hub of hubs) {
    await soon(async () => assert.equal(await balance(hub, accounts.payee), GRANT + paid))
    assert.equal(await balance(hub, accounts.payer), GRANT - paid)
  }
  const last = order(accounts)
  assert.equal((await ask(hubAt(0), '/transfer', last)).status, 200)
  await soon(() => assert.ok(reader.heard(last.transfer_id), 'the last payment is not read'))
  reader.end()
  const seqs = reader.seqs()
  assert.deepEqual(
    seqs,
    seqs.map((_, at) => (seqs[0] ?? 0) + at),
    'every fact once, in order',
  )
  assert.deepEqual(reader.gaps(), [])

  const skill_name = `skill_${randomUUID().slice(0, 8)}`
  const agent = {
    agent_id: randomUUID(),
    agent_name: 'Late',
    owner_id: accounts.payee,
    api_endpoint: 'https://late.example.org/jobs',
    skills: [{ skill_name, cost_per_call: 0.05 }],
  }
  assert.equal((await ask(hubAt(0), '/register', agent)).status, 201)
  for (const hub of hubs) {
    await soon(async () => {
      const { body } = await ask(hub, `/discover?skill=${skill_name}`)
      assert.equal((body.agents as unknown[]).length, 1, 'the directories agree again')
    })
  }
})

/** One payment after the other, each asked for at the next hub until one has answered. */
function payOnAndOn(accounts: { readonly payer: string; readonly payee: string }) {
  let paid = 0
  const over = new AbortController()
  let turn = 0
  const running = (async () => {
    while (!over.signal.aborted) {
      const one = order(accounts)
      for (let done = false; !done; ) {
        turn += 1
        const answer = await ask(hubAt(turn), '/transfer', one).catch(() => undefined)
        done = answer?.status === 200
        // 503: nothing was done, and it is to be asked again.
        if (answer !== undefined && !done) assert.equal(answer.status, 503)
        if (!done) await new Promise((resolve) => setTimeout(resolve, 100))
      }
      paid += 1
    }
  })()
  return {
    paid: () => paid,
    async end(): Promise<number> {
      over.abort()
      await running
      return paid
    },
  }
}

/** A reader of the audit feed: whenever its stream ends, it resumes at the next hub. */
function readOnAndOn(first: number) {
  const seqs: number[] = []
  const gaps: unknown[] = []
  const over = new AbortController()
  let at = first
  let lastId: string | undefined
  let text = ''

  function take(frame: string): void {
    const fields = new Map(frame.split('\n').map((each) => [each.split(': ', 1)[0], each]))
    const of = (name: string) => fields.get(name)?.slice(name.length + 2)
    lastId = of('id') ?? lastId
    const data = of('data')
    if (data === undefined) return
    if (of('event') === 'gap') gaps.push(JSON.parse(data))
    if (of('event') !== 'audit') return
    text += data
    seqs.push(Number((JSON.parse(data) as Body).seq))
  }
  async function read(): Promise<void> {
    const headers = lastId === undefined ? {} : { 'last-event-id': lastId }
    const url = `${hubAt(at).address}/v1/live?topics=audit`
    const answer = await fetch(url, { headers, signal: over.signal })
    if (answer.status !== 200 || answer.body === null) return
    const decoder = new TextDecoder()
    let rest = ''
    for await (const part of answer.body) {
      const frames = (rest + decoder.decode(part, { stream: true })).split('\n\n')
      rest = frames.pop() ?? ''
      frames.forEach(take)
    }
  }
  void (async () => {
    while (!over.signal.aborted) {
      await read().catch(() => undefined)
      at += 1
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  })()
  return {
    at: () => at,
    seqs: () => seqs,
    gaps: () => gaps,
    heard: (word: string) => text.includes(word),
    end: () => over.abort(),
  }
}
