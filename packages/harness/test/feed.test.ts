/** The agent's status feed against the harness's receiver and proxy, over real HTTP. */
import assert from 'node:assert/strict'
import { createFeedVoice } from '@chimera/agent/voice/feed'
import { type FeedAuth, openFeedDoor } from '@chimera/agent/voice/feed-door'
import type { Standing } from '@chimera/domain/agent/condition'
import type { Alias } from '@chimera/domain/ids'
import { createSeededChance } from '@chimera/host/chance'
import { createLog } from '@chimera/host/log'
import { createMetrics } from '@chimera/host/metrics'
import { createAuthority } from '@chimera/host/testing/certificates'
import { generateKeyPair } from '@chimera/identity/keys'
import fc from 'fast-check'
import { afterEach, describe, test } from 'vitest'
import {
  createFaultProxy,
  createIngestion,
  type IngestionAuth,
  type IngestionOptions,
} from '../src/index.ts'
import { createPace } from '../src/pace.ts'
import { createTraffic } from '../src/traffic.ts'

const NOON = 1_767_268_800_000
const key = generateKeyPair()
const open: (() => unknown)[] = []
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

type Wanted = IngestionOptions & { readonly by?: FeedAuth; readonly proxied?: boolean }

/** A feed voice, the way to it, and time in hand. */
async function setFeed({ by = { by: 'nobody' }, proxied = false, ...wanted }: Wanted = {}) {
  const traffic = createTraffic()
  open.push(traffic.close)
  const pace = createPace({ traffic, startAt: NOON, patienceMs: 20 })
  const { clock } = pace
  const ingestion = await createIngestion({ now: clock.now, ...wanted })
  open.push(ingestion.close)
  const target = new URL(ingestion.url)
  const proxy = proxied ? await createFaultProxy({ target: target.origin, clock }) : undefined
  if (proxy) open.push(proxy.close)
  const url = proxy ? `${proxy.url}${target.pathname}` : ingestion.url
  let standing: Standing = {
    condition: { name: 'idle', since: NOON },
    workload: { running: 0, awaiting: 0, slotsTotal: 2, slotsFree: 2 },
  }
  const alerts: string[] = []
  const voice = createFeedVoice({
    alias: 'counter' as Alias,
    door: openFeedDoor({ url, auth: by, key: () => key, clock }),
    terms: {},
    standing: () => standing,
    capabilities: () => ['word_count'],
    clock,
    chance: createSeededChance(1),
    log: createLog({ clock, name: 'agent', level: 'silent' }),
    metrics: createMetrics(),
    alert: ({ kind }) => void alerts.push(kind),
  })
  open.push(() => voice.close(AbortSignal.abort()))
  voice.open()
  await pace.pass(0)
  const turn = (name: 'idle' | 'working'): void => {
    const running = name === 'idle' ? 0 : 1
    const workload = { running, awaiting: 0, slotsTotal: 2, slotsFree: 2 - running }
    standing = { condition: { name, since: clock.now() }, workload }
    voice.changed('usual')
  }
  return { ...pace, ingestion, proxy, voice, alerts, turn }
}

const SECOND = 1_000

describe('five retries, PAUSED, and back by itself', () => {
  for (const how of [503, 'hang', 'cut'] as const) {
    test(`SF-5 SF-12 a receiver that answers ${how}`, async () => {
      const { ingestion, voice, alerts, pass, turn } = await setFeed()
      assert.deepEqual(ingestion.statuses(), ['AVAILABLE'])
      await pass(10 * SECOND)
      ingestion.answer(how)
      turn('working')
      // 1 + 2 + 4 + 8 + 16 s of waits with their spread, and up to 5 s for each that hangs.
      await pass(75 * SECOND)
      assert.equal(ingestion.seen.filter(({ answered }) => answered === how).length, 6)
      const ids = new Set(ingestion.seen.slice(1).map(({ message }) => message?.message_id))
      assert.equal(ids.size, 1, 'a retry is the same message')
      assert.equal(voice.local(), 'PAUSED')
      assert.deepEqual(alerts.sort(), ['feed_failing', 'feed_paused'])

      turn('idle')
      turn('working')
      ingestion.answer('take')
      await pass(61 * SECOND)
      assert.equal(voice.local(), 'BUSY')
      assert.deepEqual(ingestion.statuses().slice(0, 2), ['AVAILABLE', 'BUSY'])
    })
  }

  test('SF-12 SF-14 a proxy in front of a receiver that is well', async () => {
    const { ingestion, proxy, voice, pass, turn } = await setFeed({ proxied: true })
    await pass(10 * SECOND)
    proxy?.plan([503, 'cut', 'lose_answer', { late: '2s' }])
    turn('working')
    await pass(30 * SECOND)
    assert.deepEqual(
      proxy?.seen.slice(1).map(({ befell }) => befell),
      [503, 'cut', 'lose_answer', { late: '2s' }],
    )
    // The one whose answer was lost had come; its repeat is known as one.
    const verdicts = ingestion.seen.map(({ verdict }) => verdict)
    assert.deepEqual(verdicts, ['observed', 'observed', 'duplicate'])
    assert.equal(voice.local(), 'BUSY')
  })

  test('SF-3 SF-12 a normal run: a heartbeat a minute, and nothing is refused', async () => {
    const { ingestion, pass } = await setFeed({ proxied: true })
    await pass(10 * 60 * SECOND)
    assert.equal(ingestion.seen.length, 11)
    assert.ok(ingestion.seen.every(({ verdict }) => verdict === 'observed'))
    const gaps = ingestion.seen.slice(1).map(({ at }, n) => at - (ingestion.seen[n]?.at ?? 0))
    assert.ok(
      gaps.every((ms) => Math.abs(ms - 60 * SECOND) <= 5 * SECOND),
      gaps.join(),
    )
  })

  test('a share of 5xx under a seed is the same share each time', async () => {
    const run = async () => {
      const { ingestion, pass } = await setFeed({ answer: { shares: [[0.3, 500]], seed: 7 } })
      await pass(5 * 60 * SECOND)
      return ingestion.seen.map(({ answered }) => answered)
    }
    const first = await run()
    assert.ok(first.includes(500) && first.includes(202))
    assert.deepEqual(await run(), first)
  })
})

describe('SF-6 who publishes is proven', () => {
  const authority = createAuthority('feed authority')
  const callers = createAuthority('caller authority')
  const tls = authority.certify('feed', ['127.0.0.1'])
  const shown = { ...callers.certify('agent-one'), ca: authority.cert }
  const stranger = { ...createAuthority('others').certify('agent-one'), ca: authority.cert }
  const jws: IngestionAuth = { by: 'jws', keys: () => [key.publicKey] }
  const bearer: IngestionAuth = { by: 'bearer', token: () => 'the right one' }
  const mtls: IngestionAuth = { by: 'mtls', ca: callers.cert }
  // biome-ignore format: a table is read by its columns
  const rows: [how: string, auth: IngestionAuth, by: FeedAuth, publisher: string | undefined][] = [
    ['a signature of the agent',   jws,    { by: 'jws' },                                   key.id],
    ['a signature of another key', jws,    { by: 'jws', key: () => generateKeyPair() },     undefined],
    ['the token',                  bearer, { by: 'bearer', token: () => 'the right one' },  'the token'],
    ['another token',              bearer, { by: 'bearer', token: () => 'a wrong one' },    undefined],
    ['a certificate',              mtls,   { by: 'mtls', tls: () => shown },                'agent-one'],
    ['a certificate of others',    mtls,   { by: 'mtls', tls: () => stranger },             undefined],
  ]
  for (const [how, auth, by, publisher] of rows) {
    test(how, async () => {
      const wanted = auth.by === 'mtls' ? { auth, tls, by } : { auth, by }
      const { ingestion } = await setFeed(wanted)
      const [first] = ingestion.seen
      assert.deepEqual(
        [first?.answered, first?.publisher],
        [publisher === undefined ? 401 : 202, publisher],
      )
    })
  }
})

test('SF-1 SF-12 whatever is added to a status, it is refused and not observed', async () => {
  const { ingestion } = await setFeed()
  const good = ingestion.seen[0]?.message ?? {}
  const name = fc.string({ minLength: 1 }).filter((each) => !(each in good))
  const property = fc.asyncProperty(name, fc.jsonValue(), async (extra, value) => {
    const body = JSON.stringify({ ...good, [extra]: value })
    const { status } = await fetch(ingestion.url, { method: 'POST', body })
    assert.equal(status, 400)
  })
  await fc.assert(property, { numRuns: 60 })
  assert.deepEqual(ingestion.statuses(), ['AVAILABLE'])
})
