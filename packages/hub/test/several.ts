/**
 * Several hubs that are one for a test: behind one address, each request at the next of them, and
 * none passed on before they agree. So every suite that holds of one hub is held against them.
 */
import assert from 'node:assert/strict'
import { agreed } from './agreement.ts'
import { openBalancer } from './balancing.ts'
import { soon } from './cluster.ts'
import { callsTo, type HubWanted, runHub, type TestHub } from './running.ts'

// Promised to whoever asks one hub after another.
const AGREE_MS = 1_000
// Far apart, so that no two hubs of a test draw the same ids.
const SEEDS_APART = 1_000_003

export async function runHubs(wanted: HubWanted, count: number): Promise<TestHub> {
  const hubs: TestHub[] = []
  const failed: string[] = []
  let changes = 0
  let agreedOn = -1
  const balancer = await openBalancer({
    host: wanted.host ?? '127.0.0.1',
    secure: wanted.tlsCert !== undefined,
    to: () => hubs.map(({ address }) => address),
    before: async (isAlone) => {
      // Questions change nothing, and all that there is takes long to compare.
      const [upTo, alone] = [changes, isAlone()]
      const difference = await agreed(hubs, AGREE_MS, { whole: upTo !== agreedOn })
      if (difference === undefined && alone) agreedOn = upTo
      // While others ask there is no moment at which all must have heard of all.
      if (difference === undefined || !isAlone()) return
      failed.push(difference)
      throw new Error(difference)
    },
    changed: () => {
      changes += 1
    },
  })
  async function stop(): Promise<void> {
    // Last, as whoever reads a stream is told by its hub that it ends.
    await Promise.all(hubs.map((each) => each.stop()))
    await balancer.close()
    assert.deepEqual(failed, [], 'the hubs did not agree within a second')
  }

  const { seed = 1, newOperator, ...rest } = { publicUrl: balancer.address, ...wanted }
  try {
    // It makes the tables, the key and the first token; the others find them.
    const first = await runHub({ ...rest, seed, ...(newOperator !== undefined && { newOperator }) })
    hubs.push(first)
    const others = Array.from({ length: count - 1 }, (_, at) =>
      runHub({ ...rest, seed: seed + (at + 1) * SEEDS_APART }),
    )
    hubs.push(...(await Promise.all(others)))
    await Promise.all(hubs.map(isConnected))
    const { address } = balancer
    return { ...first, hubs, address, ...callsTo(address), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function isConnected({ hub }: TestHub): Promise<void> {
  await soon(() => assert.equal(hub.share.broker().type, 'connected'))
}
