/**
 * The trail: facts in the order of their transactions, sealed after they were committed, whoever
 * seals, and none of them ever skipped.
 */
import assert from 'node:assert/strict'
import { verifyChain } from '@chimera/domain/audit'
import type { CorrelationId } from '@chimera/domain/ids'
import { describe, test } from 'vitest'
import type { Database, Queries } from '../src/engine/database.ts'
import { openDatabase } from '../src/engine/open.ts'
import { appendFacts } from '../src/facts/append.ts'
import { createSealer, readHead } from '../src/facts/sealer.ts'
import { sealedAfter, walkTrail } from '../src/facts/trail.ts'
import { hasCode } from '../src/failure.ts'
import type { Stage } from './contract.ts'
import { digestOf } from './hands.ts'

const fact = (name: string | number) => ({
  fact: { type: 'tested', name },
  recordedAt: 1,
  correlation: 'c' as CorrelationId,
})
const append = (database: Database, ...names: readonly (string | number)[]) =>
  database.transaction((tx) => appendFacts(tx, names.map(fact)))

async function trailOf(queries: Queries) {
  const all = []
  for await (const page of walkTrail(queries)) all.push(...page)
  return all
}
const namesOf = (rows: readonly { readonly fact: unknown }[]) =>
  rows.map((row) => (row.fact as { name: unknown }).name)

export function factsContract({ engine, fresh }: Stage): void {
  describe('the trail', () => {
    test('P-10 facts are sealed in their order, and the chain verifies', async () => {
      const { database } = await fresh()
      const { seal } = createSealer({ database, digestOf, most: 7 })
      await append(database, ...Array.from({ length: 20 }, (_, at) => at))
      assert.deepEqual(await sealedAfter(database, 0), [], 'nothing is read before it is sealed')
      assert.equal(await seal(), 20)
      await append(database, 'ü\u{1f600}', 'b')
      assert.equal(await seal(), 2)
      assert.equal(await seal(), 0)

      const trail = await trailOf(database)
      const first = Array.from({ length: 20 }, (_, at) => at)
      assert.deepEqual(namesOf(trail), [...first, 'ü\u{1f600}', 'b'])
      const until = await readHead(database)
      assert.deepEqual(verifyChain(trail, digestOf, { until }), {
        ok: true,
        head: until,
        count: 22,
      })
      assert.deepEqual(namesOf(await sealedAfter(database, 19, 2)), [19, 'ü\u{1f600}'])
    })

    test('a fact that has no canonical form is not taken in', async () => {
      const { database } = await fresh()
      for (const name of ['a\u0000b', '\ud800', 'x\udfff']) {
        await assert.rejects(append(database, name), (e) => hasCode(e, 'fact_unstorable'))
      }
      await append(database, '\\u0000', '\\ud800')
      assert.equal(await createSealer({ database, digestOf }).seal(), 2)
    })

    if (engine.name === 'PostgreSQL') severalProcesses(fresh)
  })
}

/** The embedded database has one process, and runs one transaction after another. */
function severalProcesses(fresh: Stage['fresh']): void {
  test('a late commit is sealed later and not skipped', async () => {
    const { database } = await fresh()
    const { seal } = createSealer({ database, digestOf })
    await append(database, 'before')
    let commit = () => {}
    const held = new Promise<void>((resolve) => {
      commit = resolve
    })
    let written = () => {}
    const isWritten = new Promise<void>((resolve) => {
      written = resolve
    })
    const late = database.transaction(async (tx) => {
      await appendFacts(tx, [fact('late')])
      written()
      await held
    })
    await isWritten
    await append(database, 'after')
    assert.equal(await seal(), 2)
    const seen = await sealedAfter(database, 0)
    for (let at = 0; at < 5; at += 1) {
      await append(database, at)
      await seal()
    }
    commit()
    await late
    assert.equal(await seal(), 1)
    const rest = await sealedAfter(database, seen.at(-1)?.seq ?? 0)
    assert.deepEqual(namesOf([...seen, ...rest]), ['before', 'after', 0, 1, 2, 3, 4, 'late'])
    assert.equal(verifyChain(await trailOf(database), digestOf).ok, true)
  })

  test('a late commit is not skipped either when not all can be sealed at once', async () => {
    const { database } = await fresh()
    const some = createSealer({ database, digestOf, most: 3 })
    let commit = () => {}
    const held = new Promise<void>((resolve) => {
      commit = resolve
    })
    let written = () => {}
    const isWritten = new Promise<void>((resolve) => {
      written = resolve
    })
    const late = database.transaction(async (tx) => {
      await appendFacts(tx, [fact('late')])
      written()
      await held
    })
    await isWritten
    for (let at = 0; at < 6; at += 1) await append(database, at)
    const [before] = await database.query<{ floor_tx: number }>('SELECT floor_tx FROM sealer')
    assert.equal(await some.seal(), 6)
    const [after] = await database.query<{ floor_tx: number }>('SELECT floor_tx FROM sealer')
    assert.ok(Number(after?.floor_tx) > Number(before?.floor_tx), 'the floor rose')
    commit()
    await late
    assert.equal(await some.seal(), 1)
    assert.deepEqual(namesOf(await trailOf(database)), [0, 1, 2, 3, 4, 5, 'late'])
  })

  test('S1 what was there when a sealer was called is sealed when it answers', async () => {
    const { database, address } = await fresh()
    const others = await Promise.all([openDatabase(address), openDatabase(address)])
    const all = [database, ...others]
    for (let round = 1; round <= 20; round += 1) {
      await append(database, `round ${round}`)
      const seen = all.map(async (each) => {
        await createSealer({ database: each, digestOf }).seal()
        return (await readHead(each)).seq
      })
      assert.deepEqual(await Promise.all(seen), [round, round, round])
    }
    await Promise.all(others.map((each) => each.close()))
  })

  test('P-10 several sealers and writers at once make one chain without a gap', async () => {
    const { database, address } = await fresh()
    const others = await Promise.all([openDatabase(address), openDatabase(address)])
    const all = [database, ...others]
    const state = { writing: true }
    const sealing = all.map(async (each) => {
      const { seal } = createSealer({ database: each, digestOf, most: 5 })
      while (state.writing) await seal()
    })
    const reader = (async () => {
      const seen: unknown[] = []
      let last = 0
      for (let done = false; !done; ) {
        done = !state.writing
        const page = await sealedAfter(database, last)
        seen.push(...namesOf(page))
        last = page.at(-1)?.seq ?? last
      }
      return { seen, last }
    })()
    const writers = all.map(async (each, writer) => {
      for (let at = 0; at < 60; at += 1) await append(each, `${writer}/${at}a`, `${writer}/${at}b`)
    })
    await Promise.all(writers)
    state.writing = false
    await Promise.all(sealing)
    const { seen, last } = await reader
    await createSealer({ database, digestOf }).seal()
    const rest = namesOf(await sealedAfter(database, last))

    const trail = await trailOf(database)
    assert.equal(trail.length, 360)
    assert.equal(verifyChain(trail, digestOf).ok, true)
    assert.deepEqual([...seen, ...rest], namesOf(trail), 'the reader missed nothing')
    for (const writer of [0, 1, 2]) {
      const own = namesOf(trail).filter((name) => String(name).startsWith(`${writer}/`))
      const order = Array.from({ length: 60 }, (_, at) => [`${writer}/${at}a`, `${writer}/${at}b`])
      assert.deepEqual(own, order.flat(), 'each writer in its order')
    }
    for (const each of others) await each.close()
  })

  test('a copy whose transaction numbers run behind loses no fact', async () => {
    const { database } = await fresh()
    const { seal } = createSealer({ database, digestOf })
    await append(database, 'old')
    await seal()
    await database.query('UPDATE sealer SET floor_tx = 1000000000')
    await append(database, 'new')
    assert.equal(await seal(), 1)
    await append(database, 'newer')
    assert.equal(await seal(), 1)
  })
}
