/** Results on their way to the hub: when they go together, and when they are signed (B4). */
import assert from 'node:assert/strict'
import { defineSkill, Type } from '@chimera/skill/define'
import { describe, test } from 'vitest'
import { createHubStub, createStage, type StageOptions } from '../../test/working.ts'
import type { Done } from '../ports.ts'
import type { Keep, KeptWork } from './keep.ts'
import { createMemoryKeep } from './memory-keep.ts'
import { createSignedResults } from './signed.ts'

const PACE_MS = 20
const skill = defineSkill({
  name: 'count',
  version: '1.0',
  input: Type.Object({ text: Type.String() }),
  output: Type.Object({ words: Type.Integer() }),
  timeout: '5s',
  run: async ({ text }) => ({ words: text.split(' ').length }),
})

/** A hub that takes many results in one message, and how many each had. */
function openTown(options: Partial<StageOptions> = {}) {
  const stub = createHubStub()
  const messages: number[] = []
  const reportAll = async (results: readonly object[]): Promise<readonly Done[]> => {
    messages.push(results.length)
    return results.map(() => ({ ok: true }))
  }
  const hub = { ...stub, network: { ...stub.network, reportAll } }
  const stage = createStage({ skills: [skill], slots: 200, hub, ...options })
  const finish = async (count: number): Promise<void> => {
    const asked = Array.from({ length: count }, () => stage.ask())
    for (const each of asked) assert.ok((await each).ok)
    await turns()
  }
  return { ...stage, messages, finish }
}

/** As many as there may be between the end of work and its message. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

describe('B4 results for the hub', () => {
  test('go at once where there are few', async () => {
    const { finish, messages } = openTown()
    await finish(3)
    await finish(1)
    await finish(7)
    assert.deepEqual(messages, [3, 1, 7])
  })

  test('of a busy agent wait for each other, and for no longer than a moment', async () => {
    const { finish, messages, clock } = openTown()
    await finish(8)
    assert.deepEqual(messages, [8])
    await finish(2)
    await finish(3)
    assert.deepEqual(messages, [8], 'the next would be small')
    await clock.advanceBy(PACE_MS)
    await turns()
    assert.deepEqual(messages, [8, 5])
    await finish(1)
    assert.deepEqual(messages, [8, 5, 1], 'and is not busy any more')
  })

  test('do not wait in a message that is full', async () => {
    const { finish, messages } = openTown()
    await finish(8)
    await finish(100)
    assert.deepEqual(messages, [8, 100])
  })
})

test('W1 a result is signed while it is written down, and told after that', async () => {
  const memory = createMemoryKeep({ now: () => 0 })
  const writing: KeptWork[] = []
  let write = (): void => undefined
  const written = new Promise<void>((resolve) => {
    write = resolve
  })
  const save: Keep['save'] = async (kept) => {
    writing.push(kept)
    await written
    return memory.save(kept)
  }
  const town = openTown({ keep: { ...memory, save } })
  const signed = createSignedResults()
  Object.assign(town.self, { signed })
  await town.finish(1)
  const report = writing.at(-1)?.report
  assert.ok(report !== undefined && signed.find(report) !== undefined)
  assert.deepEqual(town.messages, [])
  write()
  await turns()
  assert.deepEqual(town.messages, [1])
})
