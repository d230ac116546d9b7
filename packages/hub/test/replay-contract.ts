/**
 * A signed request counts once, at every hub of one database and after a restart, and for the
 * address that callers know the hubs by. Run on both engines by the two test files beside
 * this one.
 */
import assert from 'node:assert/strict'
import { createChance } from '@chimera/host/chance'
import { createClock } from '@chimera/host/clock'
import { defaultsOf } from '@chimera/host/settings/declare'
import { createStop } from '@chimera/host/stop'
import { createSeenNonces } from '@chimera/identity/freshness'
import { generateKeyPair } from '@chimera/identity/keys'
import { NONCE_CONTRACT } from '@chimera/identity/nonce-contract'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { openKeep } from '../src/compose.ts'
import { remembering } from '../src/http/serve.ts'
import { HUB_SETTINGS } from '../src/settings.ts'
import { createAsker, registration } from './asking.ts'
import type { Engine } from './engines.ts'

const clock = createClock()
const origin = 'https://hub.example.org'

export function replayContract(open: () => Engine): void {
  let engine: Engine
  beforeAll(async () => {
    engine = open()
  }, 120_000)
  afterAll(() => engine.end())

  describe('the memory of nonces', { timeout: 60_000 }, () => {
    for (const [at, { rule, holds }] of NONCE_CONTRACT.entries()) {
      test(rule, async () => {
        const stop = createStop({ clock })
        const place = engine.place(`nonces-${at}`)
        const settings = { ...defaultsOf(HUB_SETTINGS), ...(await place) }
        const keep = await openKeep({ settings, clock, chance: createChance(), stop })
        try {
          await holds(keep.nonces)
          await keep.nonces.purge(Number.MAX_SAFE_INTEGER)
          await holds(remembering(createSeenNonces(), keep.nonces))
        } finally {
          await stop.stop('end of the test')
        }
      })
    }
  })

  describe('a signed request', { timeout: 120_000 }, () => {
    const wanted = { auth: 'required', clock, publicUrl: `${origin}/` } as const

    test('X-9 is made for the public address, where the hub has one', async () => {
      const hub = await engine.start(wanted, 'public')
      const asker = createAsker(hub, clock)
      const { owner, token } = await asker.newOwner()
      const { key, registered } = await register(asker, { owner, token })
      assert.equal(registered, 201)
      const status = async (signed?: { readonly origin: string }) =>
        (await asker.send('/economy', { key, ...(signed && { signed }) })).status
      assert.equal(await status({ origin }), 200)
      assert.equal(await status(), 401, 'for the address that was dialled')
      assert.equal(await status({ origin: 'http://hub.example.org' }), 401, 'in another scheme')
      await hub.stop()
    })

    test('X-9 that was taken is a replay after a restart, and at another hub', async () => {
      const first = await engine.start({ ...wanted, seed: 1 }, 'replay')
      const asker = createAsker(first, clock)
      const { owner, token } = await asker.newOwner()
      const { key } = await register(asker, { owner, token })
      const init = asker.requestOf('/economy', { key, signed: { origin } })
      assert.equal((await first.call('/economy', init)).status, 200)
      // Where two hubs can share the data, the other one runs beside the first.
      if (!engine.shares) await first.stop()
      const second = await engine.start({ ...wanted, seed: 2 }, 'replay')
      const again = await second.call('/economy', init)
      assert.deepEqual([again.status, again.body.code], [409, 'REPLAYED'])
      const anew = asker.requestOf('/economy', { key, signed: { origin } })
      const both = await Promise.all(
        (engine.shares ? [first, second] : [second, second]).map(async (hub) => {
          return (await hub.call('/economy', anew)).status
        }),
      )
      assert.deepEqual(
        both.toSorted((one, other) => one - other),
        [200, 409],
      )
      if (engine.shares) await first.stop()
      await second.stop()
    })
  })

  async function register(
    asker: ReturnType<typeof createAsker>,
    { owner, token }: { readonly owner: string; readonly token: string },
  ) {
    const key = generateKeyPair()
    const body = registration(owner)
    const { status } = await asker.send('/register', { token, key, body, signed: { origin } })
    return { key, registered: status }
  }
}
