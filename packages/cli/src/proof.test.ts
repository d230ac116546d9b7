/** Every way in which an export can lie, and what is said about it. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GENESIS, type Recorded, type Sealed, sealFacts } from '@chimera/domain/audit'
import type { Claims } from '@chimera/domain/claims'
import type { CorrelationId } from '@chimera/domain/ids'
import type { Side } from '@chimera/domain/money/ledger'
import { canonicalDigest } from '@chimera/identity/canonical'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { encodeClaims, encodeFact, headOf, writeHead } from './audit-file.ts'
import { proveFile } from './proof.ts'

const posted = (from: Side, to: Side, amountCents: number) => ({
  type: 'credits_minted',
  at: 1,
  postings: [{ from, to, amountCents }],
})
const recorded = (fact: unknown): Recorded<unknown> => ({
  fact,
  recordedAt: 5,
  correlation: 'c' as CorrelationId,
})
const sealAll = (facts: readonly unknown[]) =>
  sealFacts(GENESIS, facts.map(recorded), canonicalDigest)

const FACTS = [
  posted('mint', 'owner:ann', 500),
  posted('owner:ann', 'owner:bob', 200),
  // A line for JSON, two for whoever ends lines at U+2028.
  { type: 'note', text: 'a\u2028b' },
  posted('owner:bob', 'fees', 1),
]
const BALANCES = new Map<Side, number>([
  ['owner:ann', 300],
  ['owner:bob', 199],
  ['fees', 1],
])
const { sealed: ROWS, head: HEAD } = sealAll(FACTS)
const CLAIMS: Claims = { head: HEAD, balances: BALANCES, scores: new Map() }

let home = ''
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'chimera-proof-'))
})
afterAll(() => rmSync(home, { recursive: true, force: true }))

function fileOf(lines: readonly string[]): string {
  const path = join(home, 'trail.jsonl')
  writeFileSync(path, `${lines.join('\n')}\n`)
  return path
}
const exportOf = (rows: readonly Sealed<unknown>[], claims: Claims = CLAIMS) =>
  fileOf([encodeClaims(claims), ...rows.map(encodeFact)])

const withFact = (at: number, fact: unknown) =>
  ROWS.map((row, index) => (index === at ? { ...row, fact } : row))

describe('P-10 an export', () => {
  test('that is whole holds, and its balances are derived', () => {
    const proof = proveFile(exportOf(ROWS), HEAD)
    assert.deepEqual([proof.ok, proof.count, proof.head], [true, 4, HEAD])
    assert.deepEqual(proof.balances, new Map([...BALANCES, ['mint', -500]]))
  })

  test('of nothing holds too', () => {
    assert.ok(proveFile(exportOf([], { ...CLAIMS, head: GENESIS, balances: new Map() })).ok)
  })

  // biome-ignore format: a table is read by its columns
  const breaks: [what: string, rows: readonly Sealed<unknown>[], seq: number, kind: string][] = [
    ['a changed amount',   withFact(1, posted('owner:ann', 'owner:bob', 20)), 2, 'altered'],
    ['a missing fact',     ROWS.filter((_, at) => at !== 1),                  2, 'gap'],
    ['two in wrong order', [0, 2, 1, 3].flatMap((at) => ROWS[at] ?? []),      2, 'reordered'],
    ['a cut end',          ROWS.slice(0, 3),                                  4, 'truncated'],
    ['a whole new chain',  sealAll([...FACTS.slice(0, 3), {}]).sealed,        4, 'rewritten'],
    ['a fact too many',    sealAll([...FACTS, {}]).sealed,                    5, 'unclaimed'],
  ]
  for (const [what, rows, seq, kind] of breaks) {
    test(`with ${what} is broken at ${seq}: ${kind}`, () => {
      const { ok, broken } = proveFile(exportOf(rows))
      assert.deepEqual([ok, broken], [false, { seq, kind }])
    })
  }

  test('that was rewritten with its claims is found out by a head that was kept', () => {
    const { sealed, head } = sealAll([...FACTS.slice(0, 3), posted('owner:bob', 'owner:ann', 9)])
    const balances = new Map<Side, number>([
      ['owner:ann', 309],
      ['owner:bob', 191],
    ])
    const file = exportOf(sealed, { ...CLAIMS, head, balances })
    assert.equal(proveFile(file).ok, true)
    assert.deepEqual(proveFile(file, HEAD).broken, { seq: 4, kind: 'rewritten' })
  })

  test('whose balances or scores are not those of the facts does not hold', () => {
    const more = new Map<Side, number>([...BALANCES, ['owner:eve', 7]])
    assert.deepEqual(proveFile(exportOf(ROWS, { ...CLAIMS, balances: more })).differences, [
      { side: 'owner:eve', derivedCents: 0, claimedCents: 7 },
    ])
    const claimed = { runningMicro: 99_000_000, windowMicro: 1 }
    const scores = new Map([['a', claimed]]) as unknown as Claims['scores']
    const proof = proveFile(exportOf(ROWS, { ...CLAIMS, scores }))
    assert.deepEqual([proof.ok, proof.scoreDifferences], [false, [{ agent: 'a', claimed }]])
  })

  test('with a fact that overdraws does not hold, though its chain does', () => {
    const { sealed, head } = sealAll([posted('owner:ann', 'owner:bob', 5)])
    const balances = new Map<Side, number>([
      ['owner:ann', -5],
      ['owner:bob', 5],
    ])
    const proof = proveFile(exportOf(sealed, { ...CLAIMS, head, balances }))
    assert.deepEqual([proof.ok, proof.faults], [false, [{ seq: 1, kind: 'overdrawn' }]])
  })

  const lines = [encodeClaims(CLAIMS), ...ROWS.map(encodeFact)]
  // biome-ignore format: a table is read by its columns
  const damaged: [what: string, line: string, says: RegExp][] = [
    ['no JSON',       'x',                                          /line 3, where fact 2 belongs/],
    ['a name twice',  `{"seq":9,${lines[2]?.slice(1)}`,             /line 3, where fact 2 belongs/],
    ['a blank',       `${lines[2]} `,                               /line 3, where fact 2 belongs/],
    ['a list',        '[]',                                         /line 3, where fact 2 belongs/],
  ]
  for (const [what, line, says] of damaged) {
    test(`with ${what} for a fact is refused with its place`, () => {
      const file = fileOf(lines.map((each, at) => (at === 2 ? line : each)))
      assert.throws(() => proveFile(file), says)
    })
  }

  test('with a known name on a shape that is not known is refused with its place', () => {
    const { sealed, head } = sealAll([{ type: 'credits_held' }])
    const file = exportOf(sealed, { ...CLAIMS, head, balances: new Map() })
    assert.throws(() => proveFile(file), /Broken at fact 1/)
  })

  test('of something else is told from one of ours', () => {
    for (const first of ['', '{}', '{"format":"chimera-backup-1"}', lines[1] ?? '']) {
      assert.throws(() => proveFile(fileOf([first])), /is not an export/)
    }
  })

  test('a head is read as it is written, and nothing else is', () => {
    assert.deepEqual(headOf(writeHead(HEAD)), HEAD)
    for (const text of ['', '4', `04:${HEAD.hash}`, `-1:${HEAD.hash}`, `4:${HEAD.hash}0`]) {
      assert.equal(headOf(text), undefined, text)
    }
  })
})
