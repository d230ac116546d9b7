/**
 * Runs the hub's whole suite on a real PostgreSQL and a real NATS, with one hub; then with three
 * every suite that asks a hub from outside, each request at the next of them, and those that kill
 * hubs, broker and database. What looks into one process, such as its sockets, has one.
 */
import { spawnSync } from 'node:child_process'

const VITEST = ['node_modules/vitest/vitest.mjs', 'run']

const RUNS = [
  {
    name: 'The whole suite of the hub, one hub on PostgreSQL and NATS',
    files: ['packages/hub/test/'],
    env: { CHIMERA_TEST_HUBS: '1', CHIMERA_TEST_SERVED: '1' },
  },
  {
    name: 'Three hubs on PostgreSQL and NATS',
    files: ['-postgres.test.ts', 'test/cluster'],
    env: { CHIMERA_TEST_HUBS: '3' },
  },
]

for (const { name, files, env } of RUNS) {
  console.log(`\n${name}`)
  const { status } = spawnSync(process.execPath, [...VITEST, ...files], {
    env: { ...process.env, ...env },
    stdio: 'inherit',
  })
  if (status !== 0) process.exit(status ?? 1)
}
