/** One flight for many: single stories, and the invariants over any coming and going. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { createFlights, type Member } from './flights.ts'
import { createLeaver } from './leaving.ts'

const settle = () => new Promise((resolve) => setImmediate(resolve))

type Passenger = Member & { readonly leave: () => void; readonly heard: number[] }

function passenger(deadline?: number): Passenger {
  const leaving = createLeaver()
  const heard: number[] = []
  return {
    leaving,
    deadline: () => deadline,
    onProgress: ({ share }) => heard.push(share),
    leave: leaving.leave,
    heard,
  }
}

/** Flights that end when they are told to. */
function airport() {
  const flights = createFlights<string>()
  const begun: { flight: Member; land: (answer: string) => void; fail: (e: Error) => void }[] = []
  const begin = (flight: Member) =>
    new Promise<string>((land, fail) => {
      begun.push({ flight, land, fail })
    })
  return { flights, begun, join: (key: string, who: Member) => flights.join(key, who, begin) }
}

describe('SK-2 one flight for callers that ask the same at once', () => {
  test('G1 two share one, and each gets the answer and the progress', async () => {
    const { join, begun } = airport()
    const [one, two] = [passenger(), passenger()]
    const pending = Promise.all([join('a', one), join('a', two)])
    await settle()
    assert.equal(begun.length, 1)
    begun[0]?.flight.onProgress({ share: 0.5 })
    begun[0]?.land('x')
    assert.deepEqual(await pending, [
      { is: 'landed', answer: 'x', joined: false },
      { is: 'landed', answer: 'x', joined: true },
    ])
    assert.deepEqual([one.heard, two.heard], [[0.5], [0.5]])
  })

  test('G2 who leaves takes nobody along; the last one ends it, the next begins anew', async () => {
    const { join, begun } = airport()
    const [one, two] = [passenger(), passenger()]
    const [first, second] = [join('a', one), join('a', two)]
    await settle()
    one.leave()
    assert.deepEqual(await first, { is: 'left' })
    assert.equal(begun[0]?.flight.leaving.hasLeft(), false)
    two.leave()
    assert.deepEqual(await second, { is: 'left' })
    assert.equal(begun[0]?.flight.leaving.hasLeft(), true)
    const third = join('a', passenger())
    await settle()
    assert.equal(begun.length, 2)
    // The first one comes in late, and is nobody's.
    begun[0]?.land('old')
    begun[1]?.land('new')
    assert.deepEqual(await third, { is: 'landed', answer: 'new', joined: false })
  })

  // biome-ignore format: a table is read by its columns
  const patience: [rule: string, deadlines: (number | undefined)[], latest: number | undefined][] = [
    ['the deadline of one is the flight\'s',     [5],            5],
    ['of several the latest',                    [5, 9, 7],      9],
    ['who has none has all the time',            [5, undefined], undefined],
  ]
  for (const [rule, deadlines, latest] of patience) {
    test(`G3 ${rule}`, async () => {
      const { join, begun } = airport()
      for (const each of deadlines) void join('a', passenger(each))
      await settle()
      assert.equal(begun[0]?.flight.deadline(), latest)
    })
  }

  test("a flight that breaks is everybody's, and nobody's unhandled rejection", async () => {
    const { join, begun, flights } = airport()
    const [one, two] = [passenger(), passenger()]
    const [first, second] = [join('a', one), join('a', two)]
    await settle()
    one.leave()
    await first
    begun[0]?.fail(new Error('broken'))
    await assert.rejects(second, /broken/)
    await flights.idle()
  })

  test('G1, G2 hold over any coming and going', async () => {
    const step = fc.oneof(
      fc.record({ does: fc.constant('join' as const), key: fc.constantFrom('a', 'b') }),
      fc.record({ does: fc.constantFrom('leave' as const, 'land' as const), which: fc.nat(20) }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const { join, begun } = airport()
        const aboard: { who: Passenger; key: string; left: boolean; got?: string }[] = []
        const landed = new Set<number>()
        for (const each of steps) {
          if (each.does === 'join') {
            const mine: (typeof aboard)[number] = { who: passenger(), key: each.key, left: false }
            aboard.push(mine)
            const follow = async () => {
              const end = await join(mine.key, mine.who)
              mine.got = end.is === 'left' ? 'left' : end.answer
            }
            void follow()
          } else if (each.does === 'leave') {
            const mine = aboard[each.which % Math.max(1, aboard.length)]
            if (mine && mine.got === undefined) {
              mine.left = true
              mine.who.leave()
            }
          } else if (begun.length > 0) {
            const at = each.which % begun.length
            landed.add(at)
            begun[at]?.land(`answer ${at}`)
          }
          await settle()
          const open = begun.filter((one, at) => !landed.has(at) && !one.flight.leaving.hasLeft())
          const waiting = aboard.filter(({ got }) => got === undefined)
          assert.ok(open.length <= 2, 'one flight for each key')
          assert.equal(open.length, new Set(waiting.map(({ key }) => key)).size)
        }
        for (const { left, got } of aboard) if (left) assert.equal(got, 'left')
      }),
      { seed: 5, numRuns: 60 },
    )
  })
})
