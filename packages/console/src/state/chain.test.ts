/** P-10 The chain as a browser checks it: the same bytes, the same verdicts as the domain's. */
import assert from 'node:assert/strict'
import { sealFacts } from '@chimera/domain/audit'
import type { CorrelationId, Digest } from '@chimera/domain/ids'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import {
  canonicalText,
  differing,
  exportLines,
  type Row,
  scoresIn,
  sumRows,
  verifyRows,
} from './chain.ts'

/** A sealer that hashes as the page does, but at once: what is tested is what is hashed. */
const hash = async (text: string) => fake(text)
function fake(text: string): string {
  let sum = 0
  for (const each of text) sum = (sum * 31 + (each.codePointAt(0) ?? 0)) % 4_294_967_291
  return sum.toString(16).padStart(64, '0')
}

const money = (from: string, to: string, amountCents: number) => ({
  type: 'credits_transferred',
  payment: {},
  postings: [{ from, to, amountCents }],
})
const FACTS = [
  money('mint', 'owner:alice', 10_000),
  money('owner:alice', 'hold:h', 250),
  { type: 'agent_registered', profile: { name: 'Ünïcode \u202E "quoted"' } },
  money('hold:h', 'owner:bob', 240),
  money('hold:h', 'fees', 10),
]
const sealed = (): readonly Row[] =>
  sealFacts(
    { seq: 0, hash: '0'.repeat(64) as Digest },
    FACTS.map((fact) => ({
      fact,
      recordedAt: 1_800_000_000_000,
      correlation: 'c' as CorrelationId,
    })),
    (value) => fake(canonicalText(value)) as Digest,
  ).sealed

describe('P-10 the chain in a browser', () => {
  test('holds as it was sealed, in one piece and in several', async () => {
    const rows = sealed()
    const whole = await verifyRows(rows, undefined, hash)
    assert.ok(whole.ok && whole.head.seq === 5)
    const first = await verifyRows(rows.slice(0, 2), undefined, hash)
    assert.ok(first.ok)
    const rest = await verifyRows(rows.slice(2), first.ok ? first.head : undefined, hash)
    assert.deepEqual(rest.ok && rest.head, whole.ok && whole.head)
  })

  for (const [kind, broken] of [
    ['altered', (rows: readonly Row[]) => rows.with(1, { ...(rows[1] as Row), recordedAt: 1 })],
    ['gap', (rows: readonly Row[]) => rows.toSpliced(1, 1)],
    ['reordered', (rows: readonly Row[]) => [...rows.slice(0, 2), ...rows.slice(1)]],
  ] as const) {
    test(`is found out when it is ${kind}`, async () => {
      const verdict = await verifyRows(broken(sealed()), undefined, hash)
      assert.deepEqual(verdict.ok ? 'whole' : verdict.kind, kind)
    })
  }

  test('adds up to what was minted', () => {
    assert.deepEqual(sumRows(sealed()), {
      minted: 10_000,
      accounts: 9_990,
      holds: 0,
      fees: 10,
      faults: 0,
    })
  })

  test('its export begins with what is claimed, in the form that is verified offline', () => {
    const rows = sealed()
    const last = rows.at(-1) as Row
    const [claims = '', ...facts] = exportLines(rows, { head: last, scores: new Map() })
    assert.deepEqual(JSON.parse(claims), {
      format: 'chimera-audit-1',
      head: { seq: 5, hash: last.hash },
      balances: { fees: 10, mint: -10_000, 'hold:h': 0, 'owner:alice': 9_750, 'owner:bob': 240 },
      scores: {},
    })
    assert.deepEqual(
      facts,
      rows.map((row) => `${canonicalText(row)}\n`),
    )
  })

  test('P-2 scores that do not follow from the outcomes are named', () => {
    const found = scoresIn(sealed())
    assert.ok(found.ok)
    const { scores } = found
    const fresh = { agent_id: 'ann', window_score: 0.5, running_score: 50 }
    assert.deepEqual(differing(scores, [fresh]), [])
    const better = { ...fresh, agent_id: 'bob', running_score: 51 }
    assert.deepEqual(differing(scores, [fresh, better]), ['bob'])
    const shapeless = scoresIn([{ seq: 3, fact: { type: 'credits_transferred' } }])
    assert.deepEqual(shapeless, { ok: false, seq: 3 })
  })

  test('hashes with the browser’s own digest', async () => {
    const verdict = await verifyRows(sealed())
    assert.equal(verdict.ok, false, 'the seals above are not SHA-256')
  })
})

test('RFC 8785: members by their names, whatever their order', () => {
  assert.equal(
    canonicalText({ b: [1, { d: null, c: 'ü' }], a: 1e21 }),
    '{"a":1e+21,"b":[1,{"c":"ü","d":null}]}',
  )
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = canonicalText(value)
      assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(value)))
      assert.equal(canonicalText(JSON.parse(text)), text)
    }),
  )
})
