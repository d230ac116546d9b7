/**
 * From an ask to its signed result over HTTP, with a pass and idempotency, all of it in memory,
 * against the server of the A2A project's SDK.
 */
import type { Benchmark } from './frame.ts'
import { createEnds } from './stage/ends.ts'
import { besides, CONNECTIONS, openRoundTrip, type RoundTrip } from './stage/round-trip.ts'

const ends = createEnds()
let trip: RoundTrip | undefined

export const benchmark: Benchmark = {
  name: 'memory-trip',
  get method() {
    return (
      'POST /openclaw/v1/collaborations of a skill that counts three words, with a pass, a key ' +
      'of its own and `Prefer: wait`: validated, kept in memory, ' +
      'run, signed, answered, and reported to a stand-in for the hub. ' +
      `${CONNECTIONS} connections from a thread of their own. The peer is SendMessage over ` +
      'JSON-RPC to the server of @a2a-js/sdk 1.3.0 on Express, with a task in memory, without ' +
      `authentication and unsigned.${besides(trip)}`
    )
  },
  open: ends.orNothing(async () => {
    trip = await openRoundTrip(ends, { durable: false })
  }),
  close: ends.close,
  ours: { name: 'ask to signed result', read: async () => (await trip?.ours()) ?? Number.NaN },
  peer: { name: 'SendMessage', read: async () => (await trip?.theirs()) ?? Number.NaN },
  target: { direction: 'at least', ratio: 3 },
}
