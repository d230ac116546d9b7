/** One row, one rule: what each state and each letter makes of work that is kept. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { Digest } from '../ids.ts'
import {
  hasLostLetter,
  isOpenAgain,
  isOver,
  isUnbegun,
  isUnfinished,
  type KeptWork,
} from './kept.ts'
import type { WorkState } from './work.ts'

const letter = { id: 'l', says: 'result', to: 'hub', attempts: 1, nextAt: 0 } as const
const done: WorkState = { name: 'done', endedAt: 1, output: 'o' as Digest }
const kept = (state: WorkState, letters: KeptWork['letters'] = []) =>
  ({ work: { state }, letters }) as unknown as KeptWork

// biome-ignore format: a table is read by its columns
const states: [state: WorkState, over: boolean, unbegun: boolean, again: boolean][] = [
  [{ name: 'deferred', until: 1 },                             false, true,  false],
  [{ name: 'awaiting', since: 0, until: 1 },                   false, true,  false],
  [{ name: 'accepted', acceptedAt: 0 },                        false, true,  false],
  [{ name: 'running', acceptedAt: 0, startedAt: 0 },           false, false, false],
  [{ name: 'unknown', acceptedAt: 0, since: 0 },               false, false, false],
  [done,                                                       true,  false, false],
  [{ name: 'settled', end: done, capturedCents: 0 },           true,  false, false],
  [{ name: 'refused', refusal: 'draining' },                   true,  false, true],
  [{ name: 'refused', refusal: 'input_invalid' },              true,  false, false],
]

describe('work that is kept', () => {
  for (const [state, over, unbegun, again] of states) {
    const about = 'refusal' in state ? `${state.name}: ${state.refusal}` : state.name
    test(`${about} is ${over ? 'over' : unbegun ? 'nobody at it' : 'under way'}`, () => {
      assert.deepEqual(
        [isOver(state), isUnbegun(state), isOpenAgain(kept(state)), isUnfinished(kept(state))],
        [over, unbegun, again, !over],
      )
    })
  }

  test('what has ended is finished when everybody was told or given up', () => {
    const lost = { ...letter, lost: 'gone' }
    assert.deepEqual(
      [[], [letter], [lost], [lost, letter]].map((letters) => [
        isUnfinished(kept(done, letters)),
        hasLostLetter(kept(done, letters)),
      ]),
      [
        [false, false],
        [true, false],
        [false, true],
        [true, true],
      ],
    )
  })
})
