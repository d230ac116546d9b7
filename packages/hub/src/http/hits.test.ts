/** Hits that were written before, against hits that are written now. */
import assert from 'node:assert/strict'
import { encodeDiscovered } from '@chimera/dialects/chorus'
import { createClock } from '@chimera/host/clock'
import { createLog } from '@chimera/host/log'
import { createMetrics } from '@chimera/host/metrics'
import fc from 'fast-check'
import { test } from 'vitest'
import { crowd, openTown, type Query, query, step } from '../../test/town.ts'
import { describe as describePlace, discover } from '../act/agents.ts'
import type { Hub } from '../act/hub.ts'
import { createGuard } from '../guard.ts'
import { createHitWriter } from './hits.ts'

const log = createLog({ clock: createClock(), name: 'hub', level: 'silent' })

function open() {
  const { directory, now, take } = openTown()
  let draw = 0
  // All of a hub that a discovery asks for.
  const hub = { directory, now, fraction: () => draw } as unknown as Hub
  const write = createHitWriter({ hub, guard: createGuard({ metrics: createMetrics(), log }) })

  function ask({ draw: drawn, ...sought }: Query) {
    draw = drawn ?? 0
    const order = drawn === undefined ? ('reputation' as const) : ('fair' as const)
    const { limit = 20, offset = 0, ...bounds } = sought
    const asked = { type: 'find_agents', ...bounds, limit, offset, order } as const
    const { places, total } = discover(hub, asked, now())
    const hits = places.flatMap(
      (place) => describePlace(hub, place, { skill: asked.skills[0], now: now() }) ?? [],
    )
    return { written: JSON.parse(write(asked, log)), fresh: encodeDiscovered(hits, total) }
  }
  return { take, ask }
}

test('CH-2 P-6 what was written before says what would be written now', { timeout: 60_000 }, () => {
  const life = fc.array(fc.record({ step, query }), { minLength: 1, maxLength: 60, size: 'max' })
  let shown = 0
  fc.assert(
    fc.property(crowd, life, (first, all) => {
      const { take, ask } = open()
      first.forEach(take)
      for (const each of all) {
        take(each.step)
        // Twice: the second time hardly anything is written anew.
        for (let time = 0; time < 2; time += 1) {
          const { written, fresh } = ask(each.query)
          assert.deepEqual(written, JSON.parse(JSON.stringify(fresh)))
          shown += written.agents.length
        }
      }
    }),
    { numRuns: 60 },
  )
  assert.ok(shown > 300, `only ${shown} hits were compared`)
})
