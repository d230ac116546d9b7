/** Holds and reserve offers as callers ask for them over HTTP. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { encodePresence } from '@chimera/dialects/moltbook'
import type { AgentId, CorrelationId, InstanceId } from '@chimera/domain/ids'
import { type Announcement, presenceExpiry } from '@chimera/domain/presence/presence'
import { type Clock, createClock } from '@chimera/host/clock'
import type { KeyPair } from '@chimera/identity/keys'
import { signMessage } from '@chimera/identity/message'
import type { Sent } from './asking.ts'
import { createHiring, type Party, SKILL } from './hiring.ts'
import type { Answered, TestHub } from './running.ts'

/** The real clock, ahead by as much as a test wants: nobody waits for a promise to lapse. */
export function createShiftedClock() {
  const real = createClock()
  let aheadMs = 0
  const clock: Clock = { ...real, now: () => real.now() + aheadMs }
  return {
    clock,
    pass: (ms: number) => {
      aheadMs += ms
    },
  }
}

export type Shown = {
  readonly hold?: Record<string, unknown>
  readonly reservation?: Record<string, unknown>
}
export const shown = ({ body }: Answered): Shown => body
export const idOf = (answer: Answered): string => String(shown(answer).hold?.hold_id)
export const stateOf = (answer: Answered): unknown => shown(answer).hold?.state

export function createHolding(hub: TestHub, clock: Clock) {
  const hiring = createHiring(hub, clock)
  const { send, operator } = hiring
  const at = (ms: number) => new Date(clock.now() + ms).toISOString()

  /** An agent, and a hirer whose account is open. */
  const newPair = async () => {
    const [hirer, agent] = [await hiring.newParty(), await hiring.newParty()]
    return { hirer, agent }
  }
  const holdFor = (agent: Party, more: Record<string, unknown> = {}) => ({
    agent_id: agent.id,
    task_id: randomUUID(),
    amount: 3,
    expires_at: at(60_000),
    ...more,
  })
  const place = (by: Sent, body: object) => send('/v1/holds', { ...by, body })
  const on = (id: string, verb: string, by: Sent, body: object) =>
    send(`/v1/holds/${id}/${verb}`, { ...by, body })
  const confirm = (agent: Party, id: string, price = 2.5, more = {}) =>
    on(id, 'confirm', { key: agent.key }, { price, ...more })
  const success = (amount = 2.5, more: Record<string, unknown> = {}) => ({
    transfer_id: randomUUID(),
    amount,
    skill: SKILL,
    output: { words: 7 },
    ...more,
  })
  const capture = (agent: Party, id: string, body: object = success()) =>
    on(id, 'capture', { key: agent.key }, body)
  const release = (by: Sent, id: string, because: string) => on(id, 'release', by, { because })
  const show = (id: string, by: Sent = { token: operator }) => send(`/v1/holds/${id}`, by)

  /** A hold that is placed and, with a price, accepted. */
  async function placed(hirer: Party, agent: Party, price?: number, more = {}): Promise<string> {
    const answer = await place({ token: hirer.token }, holdFor(agent, more))
    assert.equal(answer.status, 201, JSON.stringify(answer.body))
    const id = idOf(answer)
    if (price !== undefined) assert.equal((await confirm(agent, id, price)).status, 200)
    return id
  }

  /** A running copy of an agent, which posts to the hubs named. */
  function instanceOf(agent: Party, slotsTotal = 4) {
    const instance = randomUUID()
    let last = 0
    const post = (changed: Partial<Announcement> = {}, to: TestHub = hub) => {
      const availability = changed.availability ?? 'available'
      last = Math.max(last + 1, clock.now())
      const announcement = {
        agent: agent.id as string as AgentId,
        instance: instance as InstanceId,
        availability,
        capabilities: [SKILL],
        slotsTotal,
        slotsFree: slotsTotal,
        load: { cpu: 0, mem: 0 },
        signedAt: last,
        expiresAt: presenceExpiry(availability, last),
        correlation: 'trace' as CorrelationId,
        ...changed,
      }
      const message = signMessage(encodePresence(announcement), agent.key)
      return to.post('/moltbook/v1/presence', message)
    }
    return { instance, post }
  }

  const offer = (planner: Party, instance: string, more: Record<string, unknown> = {}) => ({
    planner_id: planner.id,
    task_id: randomUUID(),
    instance_id: instance,
    requested_slots: 1,
    deadline: at(600_000),
    max_cost: 3,
    trace_id: 'trace-offer',
    signed_at: at(0),
    expires_at: at(30_000),
    ...more,
  })
  const signed = (message: object, key: KeyPair) => signMessage(message, key)
  const present = (by: Sent, message: object, to: typeof send = send) =>
    to('/v1/holds', { ...by, body: { offer: message } })

  return {
    ...hiring,
    at,
    newPair,
    holdFor,
    place,
    confirm,
    success,
    capture,
    release,
    refund: (by: Sent, id: string, body: object) => on(id, 'refund', by, body),
    on,
    show,
    placed,
    instanceOf,
    offer,
    signed,
    present,
  }
}
export type Holding = ReturnType<typeof createHolding>
