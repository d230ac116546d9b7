/** The view that exports are written from: chain and balances of one moment (W1, W2). */
import assert from 'node:assert/strict'
import { reconcile, type Sealed, verifyChain } from '@chimera/domain/audit'
import { test } from 'vitest'
import { asked, open, pay } from '../../test/books.ts'
import { createHands, digestOf, START } from '../../test/hands.ts'
import { openDatabase } from '../engine/open.ts'
import { createLedger } from '../ledger/ledger.ts'
import { migrate } from '../migrate.ts'
import { createSealer } from './sealer.ts'
import { viewTrail } from './view.ts'

test('P-10 W2 balances are those at the head, whatever is not sealed yet', async () => {
  const database = await openDatabase('pglite:memory')
  await migrate(database, { now: START })
  const ledger = createLedger({ database, ...createHands() })
  await ledger.submit(asked(open('ann', 1_000)))
  await ledger.submit(asked(open('bob', 0)))
  await ledger.submit(asked(pay('p1', { from: 'ann', to: 'bob' }, 100)))
  await createSealer({ database, digestOf }).seal()
  await ledger.submit(asked(pay('p2', { from: 'ann', to: 'bob' }, 7)))
  await ledger.submit(asked(open('eve', 50)))

  await viewTrail(database, async ({ head, balances, walk }) => {
    const trail: Sealed<unknown>[] = []
    for await (const page of walk()) trail.push(...page)
    assert.deepEqual(verifyChain(trail, digestOf, { until: head }), {
      ok: true,
      head,
      count: trail.length,
    })
    assert.deepEqual(reconcile(trail, balances).differences, [])
    assert.equal(balances.get('owner:ann'), 900)
    assert.equal(balances.get('owner:eve'), 0)
  })
  await database.close()
}, 60_000)
