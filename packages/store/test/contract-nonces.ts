/**
 * Nonces that hubs share: what the suite of `identity` cannot ask, since it knows one memory only.
 * That suite itself is run on both engines by the hub's tests, through the port that a hub uses.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { openDatabase } from '../src/engine/open.ts'
import { hasCode } from '../src/failure.ts'
import { createNonces } from '../src/nonces.ts'
import type { Stage } from './contract.ts'
import { START } from './hands.ts'

export function noncesContract({ engine, shared, fresh }: Stage): void {
  describe('nonces', () => {
    test('X-9 of many with one nonce at two hubs at the same time, one passes', async () => {
      const { database, address } = await fresh()
      // The embedded database has one process, so there the two share its connection.
      const other = engine.name === 'PostgreSQL' ? await openDatabase(address) : undefined
      const hubs = [createNonces({ database }), createNonces({ database: other ?? database })]
      for (let round = 0; round < 10; round += 1) {
        const asked = Array.from({ length: 40 }, (_, at) => ({
          key: 'k',
          nonce: `${round}-${Math.floor(at / 4) % 5}`,
          hub: hubs[at % 2],
        }))
        const answers = await Promise.all(
          asked.map(async ({ hub, ...nonce }) => hub?.remember(nonce, START)),
        )
        assert.equal(answers.filter((each) => each === 'fresh').length, 5)
        assert.equal(answers.filter((each) => each === 'seen').length, 35)
      }
      await other?.close()
    })

    test('X-9 a nonce is known to a hub that starts later', async () => {
      const nonce = { key: 'restart', nonce: 'n' }
      assert.equal(await createNonces({ database: shared() }).remember(nonce, START), 'fresh')
      const later = createNonces({ database: shared() })
      assert.equal(await later.remember(nonce, START + 60_000), 'seen')
    })

    test('what has lapsed is purged, and only that', async () => {
      const { database } = await fresh()
      const nonces = createNonces({ database })
      await Promise.all(
        Array.from({ length: 1_200 }, (_, at) =>
          nonces.remember({ key: 'p', nonce: String(at) }, START + at),
        ),
      )
      assert.equal(await nonces.purge(START + 120_000 + 699), 700)
      assert.equal(await nonces.purge(START + 120_000 + 699), 0)
      assert.equal(await nonces.remember({ key: 'p', nonce: '700' }, START + 1_000), 'seen')
      assert.equal(await nonces.remember({ key: 'p', nonce: '699' }, START + 1_000), 'fresh')
    })

    test('what waits is bounded: beyond, nothing passes', async () => {
      const nonces = createNonces({ database: shared() })
      const answers = await Promise.all(
        Array.from({ length: 6_000 }, (_, at) =>
          nonces.remember({ key: 'many', nonce: String(at) }, START),
        ),
      )
      assert.equal(answers.filter((each) => each === 'full').length, 1_000)
      assert.equal(answers.filter((each) => each === 'fresh').length, 5_000)
    })

    test('one that cannot be kept is refused alone', async () => {
      const nonces = createNonces({ database: shared() })
      const [bad, good] = await Promise.allSettled([
        nonces.remember({ key: 'odd', nonce: 'nul \u0000' }, START),
        nonces.remember({ key: 'odd', nonce: 'well' }, START),
      ])
      assert.ok(bad.status === 'rejected' && hasCode(bad.reason, 'fact_unstorable'))
      assert.deepEqual(good, { status: 'fulfilled', value: 'fresh' })
    })
  })
}
