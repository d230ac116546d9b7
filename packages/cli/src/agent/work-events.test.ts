/** What is told of work, from what a keep is handed. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openFileKeep } from '@chimera/agent/work/file-keep'
import type { Keep } from '@chimera/agent/work/keep'
import { createMemoryKeep } from '@chimera/agent/work/memory-keep'
import type { KeptWork } from '@chimera/domain/work/kept'
import type { WorkState } from '@chimera/domain/work/work'
import { test } from 'vitest'
import { telling, type WorkEvent } from './work-events.ts'

const LETTER = { id: 'l', says: 'result', to: 'hub', attempts: 0, nextAt: 0 } as const
const accepted: WorkState = { name: 'accepted', acceptedAt: 0 }
const done = { name: 'done', endedAt: 5, output: 'digest' } as WorkState

/** As much of it as telling looks at. */
function kept(state: WorkState, more: Partial<KeptWork> = {}): KeptWork {
  const ask = { work: 'w', task: 't', requester: 'ann', askedAt: 0 }
  const work = { ask, priceCents: 5, state }
  const requester = { name: 'ann' }
  const told = { scope: 's', skill: 'count@v1.0', requester, work, letters: [], ...more }
  return told as unknown as KeptWork
}

function listen(behind: Keep = createMemoryKeep({ now: () => 7 })) {
  const events: WorkEvent[] = []
  const keep = telling(behind, {
    clock: { now: () => 7 },
    tell: (event) => events.push(event),
  })
  const told = () => events.map(({ event, state, why }) => [event, state, why].filter(Boolean))
  return { keep, told, events }
}

test('asked, done and paid, each once, with what it is about', async () => {
  const { keep, told, events } = listen()
  const hold = 'h' as NonNullable<KeptWork['hold']>
  assert.equal(await keep.enter(kept(accepted, { hold })), undefined)
  await keep.enter(kept(accepted, { hold }))
  const running: WorkState = { name: 'running', acceptedAt: 0, startedAt: 1 }
  await keep.save(kept(running, { hold }))
  await keep.save(kept(done, { hold, letters: [LETTER] }))
  await keep.save(kept(done, { hold }))
  await keep.save(kept(done, { hold }))
  assert.deepEqual(told(), [['asked', 'accepted'], ['done'], ['paid']])
  const [, { at, work, task, skill, requester, priceCents, tookMs } = {}] = events
  assert.deepEqual(
    [at, work, task, skill, requester, priceCents, tookMs],
    [7, 'w', 't', 'count@v1.0', 'ann', 5, 7],
  )
})

test('work that begins while it is written down is told in order, once it is written', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'chimera-events-'))
  const files = await openFileKeep({ directory })
  const { keep, told } = listen(files.keep)
  const entering = keep.enterEarly?.(kept(accepted))
  assert.ok(entering)
  const saving = keep.save(kept(done))
  assert.deepEqual(told(), [])
  await entering.kept
  assert.equal(await saving, 'saved')
  assert.deepEqual(told(), [['asked', 'accepted'], ['done']])
  await files.close()
  await rm(directory, { recursive: true })
})

test('a result that the hub has not taken is not paid, nor is work without a hold', async () => {
  const { keep, told } = listen()
  await keep.enter(kept(accepted))
  await keep.save(kept(done, { letters: [LETTER] }))
  await keep.save(kept(done, { letters: [{ ...LETTER, lost: 'given up' }] }))
  await keep.save(kept(done))
  assert.deepEqual(told(), [['asked', 'accepted'], ['done']])
})

test('OC-19 what waits, who agreed, and why it came to nothing', async () => {
  const { keep, told } = listen()
  const awaiting: WorkState = { name: 'awaiting', since: 0, until: 9 }
  await keep.enter(kept(awaiting))
  await keep.save(kept(accepted))
  const fault = { code: 'TIMEOUT', message: 'too slow', lasting: 'transient' } as const
  await keep.save(kept({ name: 'failed', endedAt: 5, cause: 'agent', fault }))
  const issue = { path: '/text', expected: 'a string', got: 'a number' }
  const refused: KeptWork['refused'] = {
    ok: false,
    refusal: 'input_invalid',
    particulars: { issues: [issue] },
  }
  const state: WorkState = { name: 'refused', refusal: 'input_invalid' }
  await keep.enter(kept(state, { scope: 'other', ...(refused && { refused }) }))
  assert.deepEqual(told(), [
    ['asked', 'awaiting'],
    ['approved'],
    ['failed', 'TIMEOUT: too slow'],
    ['refused', 'input_invalid  /text: expected a string; got a number'],
  ])
})
