/** What is done at the end of a turn, and what does not wait for it (U1 … U4). */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { createBurst } from './burst.ts'

/** Turns and time that go on when they are told to. */
function createTurns() {
  let now = 0
  let ends: (() => void)[] = []
  const done: string[] = []
  const burst = createBurst({ now: () => now, atEnd: (run) => void ends.push(run) })
  return {
    done,
    give: (name: string) => burst(() => void done.push(name)),
    burst,
    pass: (ms: number) => {
      now += ms
    },
    endTurn: () => {
      const ending = ends
      ends = []
      for (const end of ending) end()
    },
  }
}

describe('a burst', () => {
  test('U1 U3 does all of a turn at its end, in order', () => {
    const { give, done, endTurn } = createTurns()
    for (const name of ['a', 'b', 'c']) give(name)
    assert.deepEqual(done, [])
    endTurn()
    assert.deepEqual(done, ['a', 'b', 'c'])
    endTurn()
    assert.deepEqual(done, ['a', 'b', 'c'], 'once')
  })

  test('U1 what is given while it goes on is for the next turn', () => {
    const { burst, give, done, endTurn } = createTurns()
    burst(() => give('later'))
    endTurn()
    assert.deepEqual(done, [])
    endTurn()
    assert.deepEqual(done, ['later'])
  })

  test('U2 many do not wait for the end', () => {
    const { give, done, endTurn } = createTurns()
    for (let at = 0; at < 40; at += 1) give(String(at))
    assert.equal(done.length, 32)
    endTurn()
    assert.deepEqual(
      done,
      Array.from({ length: 40 }, (_, at) => String(at)),
    )
  })

  test('U2 nor do those of a turn that takes long', () => {
    const { give, pass, done, endTurn } = createTurns()
    give('a')
    pass(1.9)
    give('b')
    assert.deepEqual(done, [])
    pass(0.1)
    give('c')
    assert.deepEqual(done, ['a', 'b', 'c'])
    give('d')
    endTurn()
    assert.deepEqual(done, ['a', 'b', 'c', 'd'])
  })

  test('U4 one that throws takes no other with it', () => {
    const { burst, give, done, endTurn } = createTurns()
    give('a')
    burst(() => {
      give('later')
      throw new Error('of its own')
    })
    give('b')
    give('c')
    assert.throws(endTurn, /of its own/)
    assert.deepEqual(done, ['a'])
    endTurn()
    assert.deepEqual(done, ['a', 'b', 'c', 'later'])
  })

  test('by itself it is done before time passes', async () => {
    const done: string[] = []
    createBurst()(() => void done.push('a'))
    assert.deepEqual(done, [])
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual(done, ['a'])
  })
})
