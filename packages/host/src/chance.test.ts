/** Both sources of chance keep the same promises; only the seeded one can be foretold. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { type Chance, createChance, createSeededChance } from './chance.ts'

const NOW = 1_767_225_600_000
const V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

const draw = (chance: Chance): readonly unknown[] => [
  chance.fraction(),
  chance.uuid(),
  chance.uuidV7(NOW),
  Buffer.from(chance.bytes(40)).toString('hex'),
]

for (const [kind, make] of [
  ['real', createChance],
  ['seeded', () => createSeededChance(7)],
] as const) {
  describe(`${kind} chance`, () => {
    test('K1 fractions fill the range from 0 to below 1', () => {
      const chance = make()
      const tenths = new Set<number>()
      let sum = 0
      for (let round = 0; round < 2_000; round += 1) {
        const drawn = chance.fraction()
        assert.ok(drawn >= 0 && drawn < 1)
        tenths.add(Math.floor(drawn * 10))
        sum += drawn
      }
      assert.equal(tenths.size, 10)
      // Eight standard deviations of the mean of 2000 draws.
      assert.ok(Math.abs(sum / 2_000 - 0.5) < 0.052, `mean ${sum / 2_000}`)
    })

    test('K2 identifiers have their version and variant, and none comes twice', () => {
      const chance = make()
      const drawn = Array.from({ length: 500 }, () => chance.uuid())
      for (const each of drawn) assert.match(each, V4)
      assert.match(chance.uuidV7(NOW), V7)
      assert.equal(new Set(drawn).size, 500)
    })

    test('K2 version 7 begins with its time', () => {
      const hex = make().uuidV7(NOW).replaceAll('-', '').slice(0, 12)
      assert.equal(Number.parseInt(hex, 16), NOW)
    })

    test('K3 version 7 rises, however the clock steps', () => {
      fc.assert(
        fc.property(fc.array(fc.double({ min: -5, max: 5, noNaN: true })), (steps) => {
          const chance = make()
          let now = NOW
          let last = ''
          for (const step of steps) {
            now += step
            const next = chance.uuidV7(now)
            assert.ok(next > last, `${next} after ${last}`)
            last = next
          }
        }),
      )
    })

    test('K3 more than fit into one millisecond still rise', () => {
      const chance = make()
      const drawn = Array.from({ length: 9_000 }, () => chance.uuidV7(NOW))
      assert.deepEqual([...drawn].sort(), drawn)
      assert.equal(new Set(drawn).size, drawn.length)
      for (const each of drawn) assert.match(each, V7)
    })
  })
}

describe('X-8 K4 seeds', () => {
  test('one seed gives one sequence', () => {
    assert.deepEqual(draw(createSeededChance(1)), draw(createSeededChance(1)))
    assert.deepEqual(draw(createSeededChance('agent/1')), draw(createSeededChance('agent/1')))
  })

  test('which does not change from release to release, so that a failure can be replayed', () => {
    assert.equal(createSeededChance(1).uuid(), '18d6e1ca-c2a8-4daf-a557-7cca14db7753')
  })

  test('another seed gives another', () => {
    const drawn = [1, 2, '1/0', 'agent'].map((seed) => createSeededChance(seed).uuid())
    assert.equal(new Set(drawn).size, drawn.length)
  })

  test('real chance gives another every time', () => {
    assert.notDeepEqual(draw(createChance()), draw(createChance()))
  })
})
