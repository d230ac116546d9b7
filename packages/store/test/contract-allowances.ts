/** The account of callers' requests: asked by several hubs at once, and bounded. */
import assert from 'node:assert/strict'
import { LIMITS } from '@chimera/domain/limits'
import type { AllowanceAsked } from '@chimera/domain/work/allowance'
import { describe, test } from 'vitest'
import { type Allowances, createAllowances } from '../src/allowances.ts'
import { openDatabase } from '../src/engine/open.ts'
import { Failure, type FailureCode } from '../src/failure.ts'
import type { Stage } from './contract.ts'
import { START } from './hands.ts'

const SECOND = Math.floor(START / 1_000)

const wanting = (wanted: number, more: Partial<AllowanceAsked> = {}): AllowanceAsked => ({
  perMinute: 60,
  wanted,
  uncovered: [],
  ...more,
})

async function given(allowances: Allowances, ...asked: Parameters<Allowances['ask']>) {
  const answer = await allowances.ask(...asked)
  assert.ok(typeof answer === 'object', JSON.stringify(answer))
  return answer
}

export function allowancesContract({ engine, shared, fresh }: Stage): void {
  describe('allowances', () => {
    test('of many who ask at three hubs at once, exactly the limit is granted', async () => {
      const { database, address } = await fresh()
      // The embedded database has one process, so there all share its connection.
      const isServer = engine.name === 'PostgreSQL'
      const others = isServer ? [await openDatabase(address), await openDatabase(address)] : []
      const hubs = [database, ...others].map((each) => createAllowances({ database: each }))
      const ask = async (at: number) => {
        const hub = hubs[at % hubs.length] ?? assert.fail('no hub')
        // Callers in another order each time, so that hubs meet in every order.
        const caller = `c${(at * 7) % 5}`
        return { caller, ...(await given(hub, caller, wanting(1 + (at % 3)), START)) }
      }
      const answers = await Promise.all(Array.from({ length: 600 }, (_, at) => ask(at)))
      for (const caller of ['c0', 'c1', 'c2', 'c3', 'c4']) {
        const own = answers.filter((each) => each.caller === caller)
        const granted = own.reduce((sum, { fact }) => sum + fact.granted, 0)
        assert.equal(granted, 60)
        const [refused] = own.filter(({ shut }) => shut !== undefined)
        assert.equal(refused?.shut?.until, (SECOND + 61) * 1_000)
      }
      for (const each of others) await each.close()
    })

    test('what was given ahead and comes back can be given to another hub', async () => {
      const [a, b] = [
        createAllowances({ database: shared() }),
        createAllowances({ database: shared() }),
      ]
      const limit = { perMinute: 640 }
      const { fact } = await given(a, 'back', wanting(1, limit), START)
      assert.equal(fact.ahead?.count, 10)
      const rest = await given(b, 'back', wanting(700, limit), START)
      assert.equal(rest.fact.granted, 629)
      const used = [{ second: SECOND, count: 3 }]
      const returned = { ahead: fact.ahead, used }
      await given(a, 'back', wanting(0, { ...limit, returned }), START)
      assert.equal((await given(b, 'back', wanting(9, limit), START)).fact.granted, 7)
      const turned = START + 61_000
      assert.equal((await given(b, 'back', wanting(700, limit), turned)).fact.granted, 640)
    })

    test('what a hub had that asks no more is never granted twice, and lapses', async () => {
      const allowances = createAllowances({ database: shared() })
      const limit = { perMinute: 640 }
      await given(allowances, 'dead', wanting(1, limit), START)
      const turned = START + 61_000
      assert.equal((await given(allowances, 'dead', wanting(700, limit), turned)).fact.granted, 630)
      const gone = START + 122_000
      assert.equal((await given(allowances, 'dead', wanting(700, limit), gone)).fact.granted, 640)
    })

    test('what has lapsed is purged, and only that', async () => {
      const { database } = await fresh()
      const allowances = createAllowances({ database })
      await Promise.all(
        Array.from({ length: 1_200 }, (_, at) =>
          allowances.ask(`p${at}`, wanting(1), START + at * 1_000),
        ),
      )
      assert.equal(await allowances.purge((SECOND + 61 + 699) * 1_000), 700)
      assert.equal(await allowances.purge((SECOND + 61 + 699) * 1_000), 0)
      const at = START + 701_000
      assert.equal((await given(allowances, 'p700', wanting(99), at)).fact.granted, 59)
      assert.equal((await given(allowances, 'p699', wanting(99), at)).fact.granted, 60)
      // A hub whose clock is behind takes nothing away that another one counts.
      assert.equal(await allowances.purge(START), 0)
    })

    test('purging beside those who ask loses no count', async () => {
      const { database } = await fresh()
      const allowances = createAllowances({ database })
      let granted = 0
      for (let round = 0; round < 20; round += 1) {
        const [answer] = await Promise.all([
          given(allowances, 'beside', wanting(5), START),
          allowances.purge(START),
          given(allowances, `other-${round}`, wanting(5), START - 61_000),
        ])
        granted += answer.fact.granted
      }
      assert.equal(granted, 60)
    })

    test('what waits is bounded: beyond, it is said that there is no room', async () => {
      const allowances = createAllowances({ database: shared() })
      const answers = await Promise.all(
        Array.from({ length: LIMITS.allowancesWaiting + 50 }, () =>
          allowances.ask('many', wanting(1), START),
        ),
      )
      assert.equal(answers.filter((each) => each === 'full').length, 50)
    })

    test('a database that does not answer is said to be away, or to have no room', async () => {
      // biome-ignore format: a table is read by its columns
      const rows: [code: FailureCode, answer: string][] = [
        ['database_unreachable', 'away'],
        ['database_closed',      'away'],
        ['outcome_unknown',      'away'],
        ['database_busy',        'full'],
      ]
      const failing = (code: FailureCode) => {
        const transaction = () => Promise.reject(new Failure(code, 'for this test'))
        return createAllowances({ database: { ...shared(), transaction } })
      }
      for (const [code, answer] of rows) {
        assert.equal(await failing(code).ask('a', wanting(1), START), answer)
      }
      await assert.rejects(failing('statement_failed').ask('a', wanting(1), START))
    })
  })
}
