/**
 * Our own paths over HTTP, by their vectors: every body that a path takes, sent to every path that
 * takes it. The table of calls says which, so a new path is here by being in it.
 */
import { randomUUID } from 'node:crypto'
import { createClock } from '@chimera/host/clock'
import { afterAll, beforeAll, describe } from 'vitest'
import { CALLS } from '../src/http/openapi.ts'
import { type Asker, createAsker } from './asking.ts'
import { runHub, type TestHub } from './running.ts'
import { testVectors } from './vectors.ts'

const OURS = 'chimera/'

describe('X-3 our own messages over HTTP', () => {
  let hub: TestHub
  let asker: Asker
  // An owner may read and be refused everywhere; who may do what is asked elsewhere.
  let token = ''
  beforeAll(async () => {
    const clock = createClock()
    hub = await runHub({ auth: 'required', clock })
    asker = createAsker(hub, clock)
    token = (await asker.newOwner()).token
  }, 120_000)
  afterAll(() => hub.stop())

  for (const { method, path, body, orBody } of CALLS) {
    const taken = [body, orBody].flatMap((each) => (each?.startsWith(OURS) ? [each] : []))
    if (taken.length === 0) continue
    const send = (wire: unknown) => {
      const target = path.replaceAll(/\{\w+\}/g, () => agentIn(wire) ?? randomUUID())
      return asker.send(target, { method: method.toUpperCase(), token, body: wire })
    }
    describe(`${method} ${path}`, () => {
      const routes = Object.fromEntries(taken.map((each) => [each.slice(OURS.length), send]))
      testVectors({ dialect: 'chimera', routes, code: 'message_malformed' })
    })
  }
})

/** A message that names its agent is sent to the path of that agent. */
function agentIn(wire: unknown): string | undefined {
  if (typeof wire !== 'object' || wire === null || !('agent_id' in wire)) return undefined
  return typeof wire.agent_id === 'string' ? encodeURIComponent(wire.agent_id) : undefined
}
