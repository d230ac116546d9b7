/**
 * The suites of the agent that ask a real hub, once more at a hub on PostgreSQL and NATS: one
 * server for all of them, a database and a broker for each (see the hub's served.ts).
 */
import { describe } from 'vitest'

// Read when the hub's tests are loaded, so it is set before.
process.env.CHIMERA_TEST_SERVED = '1'
// The servers end with this file, and not with the first suite.
await import('@chimera/hub/testing/served')

const SUITES = {
  'work at an open hub': () => import('./agent-open.test.ts'),
  'work at a hub that asks for proof': () => import('./agent-paid.test.ts'),
  hiring: () => import('./hire.test.ts'),
  reserving: () => import('./reserve.test.ts'),
  'both sides together': () => import('./together.test.ts'),
  voices: () => import('./voices-hub.test.ts'),
}

for (const [name, load] of Object.entries(SUITES)) {
  describe(`on PostgreSQL and NATS: ${name}`, async () => {
    await load()
  })
}
