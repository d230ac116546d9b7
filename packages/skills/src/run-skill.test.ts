/**
 * `runSkill` with no hub, no agent and no database, and the embedded registry and purses that it
 * stands on: in memory, and in files that outlive it.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Digest, IdempotencyKey } from '@chimera/domain/ids'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { agentProfile } from '../test/profiles.ts'
import { openEmbeddedRegistry } from './hub/embedded-registry.ts'
import { RegistryFailure } from './hub/registry.ts'
import { openFilePurses } from './providers/file-purses.ts'
import { openSkills } from './providers/open.ts'
import { ProvidersWrong } from './providers/settings.ts'
import { runSkill } from './run-skill.ts'

let home = ''
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'chimera-run-'))
})
afterAll(() => rm(home, { recursive: true, force: true }))

const NOTHING = { environment: {} }
const WALLET = `0x${'42'.repeat(20)}`

describe('runSkill', () => {
  test('SK-2 checks, fills in defaults, and answers with an output or an error', async () => {
    const good = await runSkill('fetch_trends', { platform: 'news' }, NOTHING)
    assert.ok(good.ok, JSON.stringify(good))
    assert.ok(good.output.trends.length > 0)
    const wrong: object = { platform: 'mastodon' }
    const bad = await runSkill('fetch_trends', Object(wrong), NOTHING)
    assert.equal(!bad.ok && bad.error.code, 'INVALID_PLATFORM')
  })

  test('throws for a name that is none, and for settings that make no sense', async () => {
    const fly: string = 'fly'
    await assert.rejects(
      runSkill(fly as 'fetch_trends', { platform: 'news' }),
      /one of fetch_trends/,
    )
    const missing = { models: [{ name: 'x', kind: 'openai' as const, key: { env: 'NO_SUCH' } }] }
    const brief = { campaign_goals: ['x'], trends: [] }
    await assert.rejects(
      runSkill('semantic_filter', brief, { ...NOTHING, providers: missing }),
      (error: unknown) =>
        error instanceof ProvidersWrong && /models\.0\.key: .*NO_SUCH/.test(error.message),
    )
  })

  test('without a chain a debit is pretended, and a chain’s needs a directory', async () => {
    const debit = {
      wallet_address: WALLET,
      amount: 0.25,
      currency: 'USDC' as const,
      tx_description: 'a test',
      idempotency_key: randomUUID(),
    }
    const pretended = await runSkill('debit_wallet', debit, NOTHING)
    assert.equal(pretended.ok && pretended.output.simulated, true)
    const wallet = {
      rpc: { base: ['http://127.0.0.1:9'] },
      payee: WALLET,
      key: { env: 'WALLET_KEY' },
    }
    const environment = { WALLET_KEY: `0x${'1'.repeat(64)}` }
    await assert.rejects(
      runSkill('debit_wallet', debit, { providers: { wallet }, environment }),
      (error: unknown) =>
        error instanceof ProvidersWrong &&
        /a directory to keep debits in/.test(error.message) &&
        !error.message.includes('1'.repeat(64)),
    )
  })
})

test('openSkills has all ten, says what each stands on, and closes', async () => {
  const opened = await openSkills({}, { ...NOTHING, directory: join(home, 'ten') })
  assert.equal(opened.skills.length, 10)
  assert.equal(opened.behind.length, 10)
  assert.ok(opened.behind.every(({ embedded }) => embedded))
  // The files are this one's while it is open.
  await assert.rejects(openSkills({}, { ...NOTHING, directory: join(home, 'ten') }), /held by/)
  await opened.close()
  await (await openSkills({}, { ...NOTHING, directory: join(home, 'ten') })).close()
})

describe('agents on this machine', () => {
  const signal = new AbortController().signal
  const profile = agentProfile()
  const id = profile.agent_id

  test('SK-12 keep the rules of the lifecycle and the lock, and outlive the process', async () => {
    const path = join(home, 'agents.jsonl')
    const now = () => 1_800_000_000_000
    const first = await openEmbeddedRegistry({ now, path })
    const update = (state_updates: object, expected_version?: number) =>
      first
        .update(
          { agent_id: id, state_updates, ...(expected_version && { expected_version }) },
          signal,
        )
        .then(
          ({ new_version }) => `v${new_version}`,
          (error: unknown) => (error instanceof RegistryFailure ? error.code : String(error)),
        )
    assert.equal(await update({ status: 'paused' }), 'AGENT_NOT_FOUND')
    assert.equal((await first.register(profile, signal)).registered, false)
    // biome-ignore format: a table is read by its columns
    const rows: [said: string, state: object, version?: number][] = [
      ['INVALID_STATE_TRANSITION', { status: 'busy' }],
      ['v2',                       { status: 'busy', pending_tasks: 1 }, 1],
      ['CONCURRENCY_ERROR',        { pending_tasks: 0 }, 1],
      ['v3',                       { pending_tasks: 0 }, 2],
      ['v4',                       { status: 'paused' }],
      ['INVALID_STATE_TRANSITION', { status: 'error', wallet_balance: 5 }],
      ['v5',                       { status: 'error', reason: 'the disk is full' }],
    ]
    for (const [said, state, version] of rows) assert.equal(await update(state, version), said)
    await first.register({ ...profile, name: 'Renamed' }, signal)
    await first.close()
    assert.match(await readFile(path, 'utf8'), /the disk is full/, 'the change is in its file')

    const second = await openEmbeddedRegistry({ now, path })
    const shown = await second.show(id.toUpperCase(), signal)
    assert.deepEqual(
      [shown.name, shown.status, shown.version, shown.wallet_balance, shown.embedded],
      ['Renamed', 'error', 5, undefined, true],
    )
    await second.close()
    await appendFile(path, '{"profile":{}}\n')
    await assert.rejects(openEmbeddedRegistry({ now, path }), /cannot be read/)
  })
})

test('SK-14 pretended money: no key twice, never below nothing, also after a restart', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ key: fc.nat(5), units: fc.integer({ min: 1, max: 60 }) }), {
        minLength: 1,
        maxLength: 20,
      }),
      fc.nat(20),
      async (asks, restartAt) => {
        const path = join(home, `${randomUUID()}.jsonl`)
        const taken = new Map<number, number>()
        let purses = await openFilePurses({ path })
        const debit = async ({ key, units }: { key: number; units: number }) => {
          const answer = await purses.debit({
            key: `k${key}` as IdempotencyKey,
            content: `c${units}` as Digest,
            wallet: WALLET,
            currency: 'USDC',
            units: BigInt(units),
            startUnits: 100n,
            description: 'a test',
            at: 0,
          })
          if (answer.is === 'debited') {
            assert.ok(!taken.has(key), 'once')
            taken.set(key, units)
          }
          if (answer.is === 'known') assert.equal(taken.get(key), units)
        }
        await Promise.all(asks.slice(0, restartAt).map(debit))
        await purses.close()
        purses = await openFilePurses({ path })
        await Promise.all(asks.slice(restartAt).map(debit))
        const spent = [...taken.values()].reduce((sum, units) => sum + units, 0)
        assert.ok(spent <= 100)
        assert.equal(await purses.balance(WALLET, 'USDC', 100n), BigInt(100 - spent))
        await purses.close()
      },
    ),
    { numRuns: 25 },
  )
})
