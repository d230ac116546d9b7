/**
 * What every keep must do: one piece of work under one scope, forgotten at its time and not before.
 * Each adapter's own test runs this.
 */
import assert from 'node:assert/strict'
import type {
  AgentId,
  CorrelationId,
  Digest,
  IdempotencyKey,
  TaskId,
  WorkId,
} from '@chimera/domain/ids'
import type { WorkState } from '@chimera/domain/work/work'
import { test } from 'vitest'
import type { Keep, KeptWork } from '../src/work/keep.ts'

const ACCEPTED: WorkState = { name: 'accepted', acceptedAt: 0 }

export function keptAs(
  name: string,
  more: Partial<KeptWork> = {},
  state: WorkState = ACCEPTED,
): KeptWork {
  const requester = more.requester?.name ?? 'ann'
  return {
    scope: `scope ${name}`,
    door: 'openclaw',
    requester: { name: requester, proof: 'open' },
    work: {
      ask: {
        work: `work ${name}` as WorkId,
        task: 'task' as TaskId,
        requester,
        agent: 'agent' as AgentId,
        skill: 'count',
        key: 'key' as IdempotencyKey,
        content: 'content' as Digest,
        correlation: 'correlation' as CorrelationId,
        priority: 5,
        askedAt: 0,
      },
      priceCents: 0,
      state,
    },
    input: {},
    skill: 'count@v1.0',
    durationMs: 1,
    letters: [],
    ...more,
  }
}

export function keepContract(open: (now: () => number) => Promise<Keep>): void {
  test('of two under one scope the first is kept, and the second finds it', async () => {
    const keep = await open(() => 0)
    const first = keptAs('a')
    assert.equal(await keep.enter(first), undefined)
    const found = await keep.enter({ ...keptAs('b'), scope: first.scope })
    assert.deepEqual(found, first)
    assert.equal(await keep.byWork('work b' as WorkId), undefined)
  })

  test('of two that come at once one is kept', async () => {
    const keep = await open(() => 0)
    const both = await Promise.all([
      keep.enter(keptAs('a')),
      keep.enter({ ...keptAs('b'), scope: 'scope a' }),
    ])
    assert.equal(both.filter((each) => each === undefined).length, 1)
  })

  test('OC-12 what may pass makes room for the same ask; what may not stays', async () => {
    const keep = await open(() => 0)
    await keep.enter(keptAs('a', {}, { name: 'refused', refusal: 'draining' }))
    assert.equal(await keep.enter({ ...keptAs('b'), scope: 'scope a' }), undefined)
    assert.equal((await keep.find('scope a'))?.work.ask.work, 'work b')
    await keep.enter(keptAs('c', {}, { name: 'refused', refusal: 'input_invalid' }))
    assert.ok(await keep.enter({ ...keptAs('d'), scope: 'scope c' }))
  })

  test('work that another ask has taken the place of is not brought back', async () => {
    const keep = await open(() => 0)
    const before = keptAs('a', {}, { name: 'refused', refusal: 'draining' })
    await keep.enter(before)
    await keep.enter({ ...keptAs('b'), scope: 'scope a' })
    await keep.save({ ...before, durationMs: 7 })
    assert.equal((await keep.find('scope a'))?.work.ask.work, 'work b')
  })

  test('a task is found for its requester, the latest first', async () => {
    const keep = await open(() => 0)
    await keep.enter(keptAs('a'))
    await keep.enter(keptAs('b', { requester: { name: 'bob', proof: 'open' } }))
    const found = async (requester?: string) =>
      (await keep.byTask('task' as TaskId, requester))?.work.ask.work
    assert.deepEqual(
      [await found(), await found('ann'), await found('bob'), await found('eve')],
      ['work b', 'work a', 'work b', undefined],
    )
  })

  test('OC-12 it is forgotten at its time, and not before', async () => {
    let now = 0
    const keep = await open(() => now)
    await keep.enter(keptAs('a', { forgetAt: 10 }))
    now = 9
    assert.ok(await keep.find('scope a'))
    now = 10
    assert.equal(await keep.find('scope a'), undefined)
    assert.equal(await keep.byTask('task' as TaskId), undefined)
  })

  test('what has not ended or is not told is unfinished; what was given up is lost', async () => {
    const keep = await open(() => 0)
    const done: WorkState = { name: 'done', endedAt: 1, output: 'o' as Digest }
    const letter = { id: 'l', says: 'result', to: 'hub', attempts: 1, nextAt: 0 } as const
    await keep.enter(keptAs('a'))
    await keep.enter(keptAs('b', {}, done))
    await keep.enter(keptAs('c', { letters: [letter] }, done))
    await keep.enter(keptAs('d', { letters: [{ ...letter, lost: 'gone' }] }, done))
    const names = (all: readonly KeptWork[]) => all.map(({ work }) => work.ask.work)
    assert.deepEqual(names(await keep.unfinished()), ['work a', 'work c'])
    assert.deepEqual(names(await keep.lost()), ['work d'])
  })
}
