/** From a signed offer to the signed ack, at an agent that is offered much at once (AV-8). */
import { randomUUID } from 'node:crypto'
import { encodeReserveOffer } from '@chimera/dialects/moltbook'
import type { AgentId, CorrelationId, InstanceId, TaskId } from '@chimera/domain/ids'
import { generateKeyPair } from '@chimera/identity/keys'
import { signMessage } from '@chimera/identity/message'
import type { Benchmark } from './frame.ts'
import { openLoad, percentile, requestText } from './load/client.ts'
import { type BenchProcess, processOf } from './load/process-of.ts'
import { number } from './report.ts'
import { createEnds } from './stage/ends.ts'

const OFFERS = 200
// Each connection offers so often in a round.
const EACH = 4
const SLOTS = 1_000
// The stand-in for the hub promises for a second.
const LAPSED_MS = 1_500
const MOST_MS = 20

// Rounds that are not counted: a server is judged when it has been compiled.
const WARM_UPS = 6

// Planners that offer five times a second each: a thousand offers a second in all.
const PAUSE_MS = 200

type Stage = { readonly still: BenchProcess; readonly agent: BenchProcess; readonly port: number }

const ends = createEnds()
const planner = { agent: randomUUID() as AgentId, key: generateKeyPair() }
let stage: Stage | undefined
let figures = ''
/** Of a server that only verifies and signs, in its best round. */
let floorMs = Number.POSITIVE_INFINITY

async function open(): Promise<void> {
  const still = await processOf(new URL('./load/still-process.ts', import.meta.url))
  ends.add(still.close)
  const hub = await still.ask<string>('listen')
  const process = await processOf(new URL('./load/agent-process.ts', import.meta.url))
  ends.add(process.close)
  const started = await process.ask<{ address: string; id: string }>({
    hub,
    owner: 'acme',
    slots: SLOTS,
  })
  const { agent, key } = planner
  await still.ask({ agent: started.id, caller: agent, key: key.publicKey })
  stage = { still, agent: process, port: Number(new URL(started.address).port) }
  const signer = await processOf(new URL('./load/signer-process.ts', import.meta.url))
  const least = await signer.ask<number>({ from: key.publicKey })
  for (let warm = 0; warm < WARM_UPS; warm += 1) {
    await offerAll(0)
    floorMs = Math.min(floorMs, (await offerAll(0, least)).p99)
  }
  await signer.close()
}

function offerTo(instance: InstanceId): string {
  const now = Date.now()
  const offer = encodeReserveOffer({
    type: 'reserve_slots',
    planner: planner.agent,
    task: randomUUID() as TaskId,
    instance,
    slots: 1,
    deadline: now + 60_000,
    maxCostCents: 5,
    correlation: randomUUID() as string as CorrelationId,
    signedAt: now,
    expiresAt: now + 30_000,
  })
  return requestText('POST', '/moltbook/v1/reserve', signMessage(offer, planner.key))
}

/** The 99th percentile of a round, and how many were answered in a second. */
async function offerAll(
  pauseMs: number,
  to?: number,
): Promise<{ readonly p99: number; readonly rate: number }> {
  if (stage === undefined) throw new Error('not open')
  const instance = (await stage.still.ask<string>('instance')) as InstanceId
  const requests = Array.from({ length: EACH * OFFERS }, () => offerTo(instance))
  const port = to ?? stage.port
  const load = await openLoad({ port, connections: OFFERS, status: 200, requests, pauseMs })
  const start = performance.now()
  const { latenciesMs } = await load.run(requests.length)
  const tookMs = performance.now() - start
  await load.close()
  // What the agent promised is free again before the next round.
  if (to === undefined) await new Promise((resolve) => setTimeout(resolve, LAPSED_MS))
  return { p99: percentile(latenciesMs, 0.99), rate: (1_000 * requests.length) / tookMs }
}

async function slowest(): Promise<number> {
  const before = await stage?.agent.cpuSeconds()
  const closed = await offerAll(0)
  const after = await stage?.agent.cpuSeconds()
  const micros = (((after ?? 0) - (before ?? 0)) * 1e6) / (EACH * OFFERS)
  const open = await offerAll(PAUSE_MS)
  figures =
    ' A bare server that verifies and signs, and does nothing else, at its best: ' +
    `${number(floorMs)} ms. The last round: ${number(closed.rate)} acks a second, ` +
    `${number(micros)} µs on a core of the agent for each. With as many planners that ` +
    `pause ${PAUSE_MS} ms on average before they offer again, ${number(open.rate)} a ` +
    `second: p99 ${number(open.p99)} ms.`
  return closed.p99
}

export const benchmark: Benchmark = {
  name: 'reserve-ack',
  get method() {
    return (
      `${OFFERS} signed offers under way at once at POST /moltbook/v1/reserve of one agent, each ` +
      `answered before its connection sends the next, ${EACH} on each. An offer is verified, ` +
      'takes a slot and is presented to a stand-in for the hub, which promises at once; the ack ' +
      'is signed. The figure is the 99th percentile of a round. Nobody pauses, so it is the ' +
      `number of offers divided by the rate.${figures}`
    )
  },
  unit: 'ms',
  open: ends.orNothing(open),
  close: ends.close,
  ours: { name: 'p99 until the ack', read: slowest },
  peer: { name: 'what is asked for', figure: MOST_MS },
  target: { direction: 'at most', ratio: 1 },
}
