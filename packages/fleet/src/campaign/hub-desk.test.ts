/** The desk at the hub: waits for a hub that is away, and for nothing else. */
import assert from 'node:assert/strict'
import type { HubAnswer } from '@chimera/agent/hub/client'
import { describe, test } from 'vitest'
import { askedFor } from '../../test/persona.ts'
import { createHubDesk, DeskFailure } from './hub-desk.ts'
import { beginRecord } from './record.ts'

const AWAY: HubAnswer = { ok: false, kind: 'unanswered', code: 'network', detail: 'refused' }
const BUSY: HubAnswer = {
  ok: false,
  kind: 'refused',
  status: 503,
  code: 'service_unavailable',
  sentence: 'Ask again.',
  retryable: true,
}
const BEHIND: HubAnswer = { ...BUSY, status: 409, code: 'message_outdated', retryable: false }
const DONE: HubAnswer = { ok: true, status: 204, body: undefined }
const RECORD = beginRecord(askedFor(), 0)

function desk(...answers: readonly HubAnswer[]) {
  const waits: number[] = []
  const told: unknown[] = []
  const next = async (_: string, body?: unknown): Promise<HubAnswer> => {
    told.push(body)
    return answers[told.length - 1] ?? AWAY
  }
  const hub = { get: next, post: next }
  const sleep = async (ms: number, signal: AbortSignal): Promise<void> => {
    signal.throwIfAborted()
    waits.push(ms)
  }
  return { waits, told, ...createHubDesk({ hub, agent: Promise.resolve('me'), sleep }) }
}
const { signal } = new AbortController()

describe('SK-16 a record is told', () => {
  test('to a hub that is away when it is back, the same each time', async () => {
    const one = desk(AWAY, BUSY, AWAY, DONE)
    await one.save(RECORD, signal)
    assert.deepEqual(one.waits, [500, 1_000, 2_000])
    const told = { ...RECORD, agent_id: 'me' }
    assert.deepEqual(one.told, [told, told, told, told])
  })

  test('and a hub that says no is not asked again', async () => {
    const one = desk(BEHIND, DONE)
    await assert.rejects(one.save(RECORD, signal), DeskFailure)
    assert.equal(one.told.length, 1)
  })

  test('until the run is over', async () => {
    const stop = new AbortController()
    const one = desk(AWAY)
    const saved = one.save(RECORD, stop.signal)
    stop.abort(new Error('over'))
    await assert.rejects(saved, /over/)
  })
})
