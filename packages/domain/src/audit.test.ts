/**
 * The chain against everybody who could touch it: one row, one kind of break; then any single
 * change anywhere in any chain. The balances are checked against a ledger that really ran.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import {
  type DigestOf,
  GENESIS,
  type Head,
  type Recorded,
  reconcile,
  type Sealed,
  sealFacts,
  verifyChain,
} from './audit.ts'
import type { AgentId, CorrelationId, Digest, HoldId, OwnerId, TaskId, TransferId } from './ids.ts'
import { balancesOf, openBooks, type Side } from './money/ledger.ts'
import { decideTogether, type MoneyCommand } from './money/money.ts'

/** Keys in order, so that equal values have equal text; what JSON cannot say is refused. */
const canonical = (value: unknown): string => {
  if (value === undefined || Number.isNaN(value)) throw new Error('no canonical form')
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).sort(([one], [two]) => (one < two ? -1 : 1))
  return `{${entries.map(([key, each]) => `${JSON.stringify(key)}:${canonical(each)}`).join()}}`
}
const digestOf: DigestOf = (value) =>
  createHash('sha256').update(canonical(value)).digest('hex') as Digest

const recorded = (fact: unknown, at = 0): Recorded<unknown> => ({
  fact,
  recordedAt: 1_000 + at,
  correlation: `c${at}` as CorrelationId,
})
const chainOf = (facts: readonly unknown[], head = GENESIS) =>
  sealFacts(head, facts.map(recorded), digestOf)

const { sealed: rows, head } = chainOf(['a', 'b', 'c', 'd', 'e'])

/** Seals a row again as if it had been written so: the work of a forger who knows the format. */
function reseal({ hash: _, ...body }: Sealed<unknown>): Sealed<unknown> {
  return { ...body, hash: digestOf(body) }
}
const at = (seq: number): Sealed<unknown> => rows[seq - 1] ?? assert.fail(`no row ${seq}`)
const forged = (seq: number) => reseal({ ...at(seq), fact: 'forged' })
const forgedFrom = (seq: number) => {
  const from = { seq: seq - 1, hash: at(seq).prev }
  const rest = rows.slice(seq).map((row) => row.fact)
  return [...rows.slice(0, seq - 1), ...chainOf(['forged', ...rest], from).sealed]
}
const swap = (one: number, two: number) =>
  rows.map((row) => (row.seq === one ? at(two) : row.seq === two ? at(one) : row))
const put = (seq: number, row: Sealed<unknown>) =>
  rows.map((each) => (each.seq === seq ? row : each))

type Chain = readonly Sealed<unknown>[]

describe('P-10 a chain is verified without the hub', () => {
  test('a whole chain is whole, and says how far it goes', () => {
    assert.deepEqual(verifyChain(rows, digestOf), { ok: true, head, count: 5 })
    assert.deepEqual(verifyChain([], digestOf), { ok: true, head: GENESIS, count: 0 })
  })

  test('it goes on from a head that is trusted', () => {
    const from = { seq: 2, hash: at(2).hash }
    assert.deepEqual(verifyChain(rows.slice(2), digestOf, { from }), { ok: true, head, count: 3 })
    const more = chainOf(['f'], head)
    const all = [...rows, ...more.sealed]
    assert.deepEqual(verifyChain(all, digestOf), { ok: true, head: more.head, count: 6 })
  })

  test('a known head that lies on the way is passed', () => {
    const until = { seq: 2, hash: at(2).hash }
    assert.equal(verifyChain(rows, digestOf, { until }).ok, true)
  })

  const other = { ...head, hash: at(1).hash }
  // biome-ignore format: a table is read by its columns
  const breaks: [rule: string, chain: Chain, seq: number, kind: string, until?: Head][] = [
    ['a fact is missing',                          [...rows.slice(0, 2), ...rows.slice(3)], 3, 'gap'],
    ['the first is missing',                       rows.slice(1),                           1, 'gap'],
    ['two stand in each other\'s place',           swap(2, 3),                              2, 'reordered'],
    ['two far apart do',                           swap(1, 5),                              1, 'reordered'],
    ['one comes twice',                            [...rows.slice(0, 3), at(3), ...rows.slice(3)], 4, 'reordered'],
    ['a fact was changed',                         put(3, { ...at(3), fact: 'x' }),         3, 'altered'],
    ['a time was changed',                         put(3, { ...at(3), recordedAt: 9 }),     3, 'altered'],
    ['a correlation was changed',                  put(3, { ...at(3), correlation: 'x' as CorrelationId }), 3, 'altered'],
    ['a hash was changed',                         put(3, { ...at(3), hash: at(4).hash }),  3, 'altered'],
    ['a field was added',                          put(3, { ...at(3), note: 'x' } as Sealed<unknown>), 3, 'altered'],
    ['a fact has no canonical form',               put(3, { ...at(3), fact: Number.NaN }),  3, 'altered'],
    ['a number is none',                           put(3, { ...at(3), seq: Number.NaN }),   3, 'altered'],
    ['a link was changed',                         put(3, { ...at(3), prev: at(1).hash }),  3, 'unlinked'],
    ['a fact was replaced and sealed anew',        put(3, forged(3)),                       4, 'unlinked'],
    ['one was put in and numbered',                [...rows.slice(0, 2), forged(3), ...rows.slice(2).map((row) => reseal({ ...row, seq: row.seq + 1 }))], 4, 'unlinked'],
    ['the end was cut off',                        rows.slice(0, 3),                        4, 'truncated', head],
    ['all of it was',                              [],                                      1, 'truncated', head],
    ['the last was replaced and sealed anew',      put(5, forged(5)),                       5, 'rewritten', head],
    ['all was written anew from one fact on',      forgedFrom(2),                           5, 'rewritten', head],
    ['it is another chain than the one known',     rows,                                    5, 'rewritten', other],
  ]
  for (const [rule, chain, seq, kind, until] of breaks) {
    test(rule, () => {
      const known = until === undefined ? {} : { until }
      assert.deepEqual(verifyChain(chain, digestOf, known), { ok: false, seq, kind })
    })
  }

  test('a start that contradicts the known head is no start', () => {
    const until = { seq: 2, hash: at(1).hash }
    const from = { seq: 2, hash: at(2).hash }
    const answer = { ok: false, seq: 2, kind: 'rewritten' }
    assert.deepEqual(verifyChain(rows.slice(2), digestOf, { from, until }), answer)
  })

  test('U3 without a known head, a cut end cannot be told', () => {
    assert.equal(verifyChain(rows.slice(0, 3), digestOf).ok, true)
  })
})

/** One change of one thing, anywhere. */
const tampering = fc.record({
  how: fc.constantFrom('change', 'remove', 'insert', 'swap', 'cut', 'replace'),
  where: fc.nat(),
  field: fc.constantFrom('seq', 'prev', 'hash', 'fact', 'recordedAt', 'correlation'),
  value: fc.oneof(fc.integer(), fc.string(), fc.constant(undefined), fc.object({ maxDepth: 1 })),
})
type Tampering = typeof tampering extends fc.Arbitrary<infer Made> ? Made : never

function tamper(chain: Chain, { how, where, field, value }: Tampering): Chain {
  const place = where % chain.length
  const row = chain[place] ?? assert.fail()
  switch (how) {
    case 'change':
      return chain.with(place, { ...row, [field]: value })
    case 'replace':
      return chain.with(place, reseal({ ...row, fact: ['forged', row.fact] }))
    case 'remove':
      return chain.toSpliced(place, 1)
    case 'insert':
      return chain.toSpliced(place, 0, reseal({ ...row, fact: 'forged' }))
    case 'cut':
      return chain.slice(0, place)
    case 'swap': {
      const next = (place + 1) % chain.length
      return chain.with(place, chain[next] ?? row).with(next, row)
    }
  }
}

test('P-10 any single change of any chain is found by whoever knows its head', () => {
  const found = new Set<string>()
  const anyChain = fc.array(fc.jsonValue({ maxDepth: 2 }), { minLength: 2, maxLength: 12 })
  fc.assert(
    fc.property(anyChain, tampering, (facts, change) => {
      const { sealed, head: until } = chainOf(JSON.parse(JSON.stringify(facts)))
      assert.equal(verifyChain(sealed, digestOf, { until }).ok, true)
      const touched = tamper(sealed, change)
      // A value may have been put where it already was.
      fc.pre(!isDeepStrictEqual(touched, sealed))
      const answer = verifyChain(touched, digestOf, { until })
      assert.ok(!answer.ok)
      found.add(answer.kind)
    }),
    { numRuns: 800 },
  )
  const kinds = ['altered', 'gap', 'reordered', 'rewritten', 'truncated', 'unlinked']
  assert.deepEqual([...found].sort(), kinds)
})

test('P-10 sealing in pieces gives the same chain as sealing at once', () => {
  const pieces = fc.array(fc.array(fc.jsonValue({ maxDepth: 1 }), { maxLength: 4 }))
  fc.assert(
    fc.property(pieces, (parts) => {
      const entries = parts.map((facts) => facts.map((fact) => recorded(fact)))
      const atOnce = sealFacts(GENESIS, entries.flat(), digestOf)
      let last = GENESIS
      const sealed = entries.flatMap((part) => {
        const piece = sealFacts(last, part, digestOf)
        last = piece.head
        return piece.sealed
      })
      assert.deepEqual({ sealed, head: last }, atOnce)
    }),
  )
})

describe('P-10 CH-9 every balance is re-derived from the chain', () => {
  const alice = 'alice' as OwnerId
  const bob = 'bob' as OwnerId
  const agent = 'bob-agent' as AgentId
  const hold = 'h1' as HoldId
  const open = (owner: OwnerId, grantCents: number): MoneyCommand => ({
    type: 'open_account',
    owner,
    grantCents,
    transfer: `grant-${owner}` as TransferId,
  })
  const offer = { payer: alice, payee: bob, agent, amountCents: 400, lapsesAt: 9, by: alice }
  const { facts, books } = decideTogether(
    openBooks(),
    [
      open(alice, 1_000),
      open(bob, 0),
      { type: 'hold_credits', hold, task: 'j1' as TaskId, ...offer },
      { type: 'confirm_hold', hold, agent, priceCents: 300 },
      { type: 'capture_hold', hold, agent, transfer: 't1' as TransferId, amountCents: 300 },
      { type: 'hold_credits', hold: 'h2' as HoldId, task: 'j2' as TaskId, ...offer },
    ],
    0,
    { feeBasisPoints: 100 },
  )
  const other = { type: 'agent_registered', agent }
  const exported = JSON.parse(JSON.stringify(chainOf([other, ...facts]).sealed))
  const balances = balancesOf(books)
  const posted = (posting: unknown) => [{ seq: 1, fact: { postings: [posting] } }]

  test('the balances that the hub claims are the ones that follow from the facts', () => {
    assert.equal(verifyChain(exported, digestOf).ok, true)
    const answer = reconcile(exported, balances)
    assert.deepEqual([answer.ok, answer.differences, answer.faults], [true, [], []])
    assert.deepEqual(Object.fromEntries(answer.balances), Object.fromEntries(balances))
    assert.deepEqual(
      [...answer.balances.values()].reduce((sum, each) => sum + each, 0),
      0,
    )
  })

  test('the mint need not be claimed', () => {
    const without = new Map([...balances].filter(([side]) => side !== 'mint'))
    assert.equal(reconcile(exported, without).ok, true)
  })

  // biome-ignore format: a table is read by its columns
  const lies: [rule: string, side: Side, claimedCents: number | undefined, derivedCents: number][] = [
    ['one hundredth too much',        'owner:bob',  298,       297],
    ['one too little',                'owner:alice', 299,      300],
    ['an account that is left out',   'owner:bob',  undefined, 297],
    ['a hold that is left out',       'hold:h2',    undefined, 400],
    ['an ended hold with credits',    'hold:h1',    1,         0],
    ['an account that nobody opened', 'owner:zoe',  5,         0],
    ['fees that are kept quiet',      'fees',       0,         3],
    ['a mint that claims otherwise',  'mint',       -999,      -1_000],
  ]
  for (const [rule, side, claimedCents, derivedCents] of lies) {
    test(`${rule} is named`, () => {
      const claims = new Map(balances)
      if (claimedCents === undefined) claims.delete(side)
      else claims.set(side, claimedCents)
      const difference = { side, derivedCents }
      const named = claimedCents === undefined ? difference : { ...difference, claimedCents }
      const { ok, differences } = reconcile(exported, claims)
      assert.deepEqual([ok, differences], [false, [named]])
    })
  }

  // biome-ignore format: a table is read by its columns
  const faults: [rule: string, posting: unknown, kind: string][] = [
    ['what is not there is given away',   { from: 'owner:a', to: 'owner:b', amountCents: 1 },    'overdrawn'],
    ['a part of a hundredth moves',       { from: 'mint', to: 'owner:b', amountCents: 0.5 },     'posting_invalid'],
    ['less than nothing moves',           { from: 'mint', to: 'owner:b', amountCents: -1 },      'posting_invalid'],
    ['nothing moves',                     { from: 'mint', to: 'owner:b', amountCents: 0 },       'posting_invalid'],
    ['an amount is text',                 { from: 'mint', to: 'owner:b', amountCents: '1' },     'posting_invalid'],
    ['one side is both',                  { from: 'mint', to: 'mint', amountCents: 1 },          'posting_invalid'],
    ['a side is missing',                 { from: 'mint', amountCents: 1 },                      'posting_invalid'],
    ['a side is of no kind',              { from: 'mint', to: 'bob', amountCents: 1 },           'posting_invalid'],
    ['an owner has no name',              { from: 'mint', to: 'owner:', amountCents: 1 },        'posting_invalid'],
    ['there is nothing at all',           null,                                                  'posting_invalid'],
  ]
  for (const [rule, posting, kind] of faults) {
    test(`a fault is named: ${rule}`, () => {
      assert.deepEqual(reconcile(posted(posting), new Map()).faults, [{ seq: 1, kind }])
    })
  }

  test('postings that are no list are not passed over', () => {
    const row = { seq: 7, fact: { postings: 'none' } }
    assert.deepEqual(reconcile([row], new Map()).faults, [{ seq: 7, kind: 'posting_invalid' }])
  })
})
