/**
 * Runs every suite of the hub that holds on PostgreSQL against a cluster: with one hub and with
 * three, on a real PostgreSQL and a real NATS, each request at the next hub. Says which is running.
 */
import { spawnSync } from 'node:child_process'

const vitest = ['node_modules/vitest/vitest.mjs', 'run']

for (const hubs of ['1', '3']) {
  console.log(
    `\nThe hub's suites on PostgreSQL and NATS, ${hubs === '1' ? 'one hub' : 'three hubs'}`,
  )
  // What starts its own hubs has as many as it says, so once is enough.
  const files = hubs === '1' ? ['-postgres.test.ts'] : ['-postgres.test.ts', 'test/cluster']
  const { status } = spawnSync(process.execPath, [...vitest, ...files], {
    env: { ...process.env, CHIMERA_TEST_HUBS: hubs },
    stdio: 'inherit',
  })
  if (status !== 0) process.exit(status ?? 1)
}
