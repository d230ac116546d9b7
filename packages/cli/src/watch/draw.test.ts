/** The screen as a table: what is known and how large it is, and the lines that come of it. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { drawWatched, type Size } from './draw.ts'
import {
  type AgentRow,
  applyEvent,
  applyLists,
  beginWatching,
  type Hold,
  type Watched,
} from './state.ts'
import { fit, widthOf } from './width.ts'
import type { Told } from './words.ts'

const NOW = Date.UTC(2026, 0, 1, 12)
const at = (agoMs: number): string => new Date(NOW - agoMs).toISOString()
const size: Size = { columns: 101, rows: 30 }

const agent = (name: string, more: Partial<AgentRow> = {}): AgentRow => ({
  agent_id: `id-${name}`,
  agent_name: name,
  owner_id: 'me',
  condition: 'idle',
  liveness: 'online',
  registered_at: at(90_000),
  heard_at: at(3_000),
  tasks: 0,
  slots_total: 16,
  slots_free: 16,
  window_score: 0.5,
  running_score: 50,
  completed: 0,
  failed: 0,
  skills: [],
  instances: [],
  ...more,
})
const hold = (id: string, more: Partial<Hold> = {}): Hold => ({
  hold_id: id,
  payer_id: 'me',
  payee_id: 'me',
  funder_id: 'me',
  agent_id: 'id-judge',
  task_id: id,
  state: 'confirmed',
  amount: 0.5,
  left: 0.5,
  paid: 0,
  cost: 0,
  ends_at: at(-60_000),
  ...more,
})
const sums = {
  minted: 100,
  in_accounts: 90.5,
  in_holds: 9.5,
  in_fees: 0,
  balanced: true,
  accounts: 1,
  standing_holds: 1,
  payments: 4,
  volume: 0.5,
  by: 'hour' as const,
  since: at(0),
  spans: [],
}
const told = (kind: string, more: Partial<Told> = {}): Told => ({ kind, at: at(0), ...more })

const online = { ...beginWatching('http://127.0.0.1:4600'), trouble: undefined }
const known: Watched = applyLists(
  online,
  {
    agents: [
      agent('judge', {
        condition: 'working',
        slots_free: 15,
        instances: [
          {
            instance_id: 'i',
            state: 'busy',
            liveness: 'online',
            slots_total: 16,
            slots_free: 15,
            load: { cpu: 0.12, mem: 0.4 },
            seen_at: at(0),
          },
        ],
      }),
      agent('gone', { liveness: 'offline', condition: 'stopped', heard_at: at(3_600_000) }),
    ],
    total: 2,
    holds: [hold('h', { hirer_id: 'id-gone' }), hold('done', { state: 'captured' })],
    sums,
  },
  NOW - 4_000,
)
const lines = (watched: Watched, of: Size = size, colour = false) =>
  drawWatched(watched, of, { now: NOW, colour })
const drawn = (watched: Watched, of?: Size) => lines(watched, of).join('\n')
const many = (count: number) =>
  applyLists(
    online,
    { agents: Array.from({ length: count }, (_, each) => agent(`agent-${each}`)), total: count },
    NOW,
  )
const late = applyLists(online, { agents: [agent('late', { liveness: 'suspect' })], total: 1 }, NOW)
const event = (topic: string, more: Partial<Told> = {}) =>
  applyEvent(known, { topic, told: told('hold_captured', more) })

describe('the screen of chimera watch', () => {
  const paid = { agent_id: 'id-judge', amount: 0.5, task_id: '0123456789abcdef' }
  // biome-ignore format: a table is read by its columns
  const rows: readonly (readonly [rule: string, watched: Watched, shown: RegExp, of?: Size])[] = [
    ['says where it is connected',           known,                   /^Chimera {2}http:\/\/127\.0\.0\.1:4600 +1 of 2 agents here {2}\d\d:00:00 {2}q leaves$/m],
    ['says that it is not',                  { ...known, trouble: 'The connection is lost' }, /^Chimera .*The connection is lost {2}/],
    ['an agent with all that is known',      known,                   /^judge +working +1\/16 +40% +3s +50\.00 +0\.500 +0 +0$/m],
    ['who has fallen silent comes last',     known,                   /^judge[\s\S]*^gone +stopped .* 1h /m],
    ['whoever is late is asked about',       late,                    /^late +silent\? /m],
    ['an empty network',                     online,                  /^Nobody is registered yet\./m],
    ['work with who asked and who does it',  known,                   /^gone > judge +at work +0\.50 +4s$/m],
    ['work that is over is gone',            known,                   /WORK GOING ON *\n[^\n]+\n *\nMONEY/],
    ['no work',                              { ...known, holds: [] }, /Nothing at the moment\./],
    ['work that is not told',                { ...known, holds: undefined }, /WORK GOING ON *\nNot told to you: --token-file/],
    ['money that is not told',               { ...known, sums: undefined }, /MONEY *\nNot told to you/],
    ['money, and that the books balance',    known,                   /minted 100\.00, in accounts 90\.50, held 9\.50, paid 0\.50 in 4, the books balance/],
    ['books that do not balance are loud',   { ...known, sums: { ...sums, balanced: false } }, /THE BOOKS DO NOT BALANCE/],
    ['an event by names, with a short id',   event('ledger', paid),   /LAST EVENTS *\n\S+ ledger {3}hold_captured +judge {2}0\.50 {2}task 01234567 *$/m],
    ['how many agents there is no room for', many(40),                /^… 31 more *$/m, { columns: 80, rows: 30 }],
    ['fewer columns where it is narrow',     known,                   /^AGENT {12,}CONDITION$/m, { columns: 31, rows: 30 }],
  ]
  for (const [rule, watched, shown, of] of rows) {
    test(rule, () => assert.match(drawn(watched, of).replace(/ +$/gm, ''), shown))
  }

  test('signs of life are no events, and the list of them is bounded', () => {
    const seen = applyEvent(known, { topic: 'presence', told: told('instance_seen') })
    assert.equal(seen.events.length, 0)
    let watched = known
    for (let each = 0; each < 300; each += 1) {
      watched = applyEvent(watched, { topic: 'work', told: told(`event_${each}`) })
    }
    assert.equal(watched.events.length, 200)
    assert.equal(watched.events[0]?.told.kind, 'event_299')
  })

  test('colours only where they are wanted, and they change no letter', () => {
    const watched = event('ledger')
    const coloured = lines(watched, size, true)
    assert.ok(coloured.some((line) => line.includes('\u001b[')))
    const bare = coloured.map((line) =>
      line
        .split('\u001b[')
        .map((part, at) => (at === 0 ? part : part.replace(/^\d+m/, '')))
        .join(''),
    )
    assert.deepEqual(bare, lines(watched))
  })

  const HOSTILE = [
    '\u001b[2J\u001b[H',
    'a\rb\nc\tdel\u007f',
    '\u202eevil\u2066',
    '漢字かな',
    '👩‍👩‍👧‍👦🇩🇪',
    `z${'\u0300'.repeat(50)}`,
    'שלום 123',
    '\u3164\u200b\ufe0f',
    '\ud800',
    '\u009b31m',
  ]
  const text = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 60 }),
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.constantFrom(...HOSTILE),
  )
  const sizes = fc.record({ columns: fc.integer({ min: 1, max: 220 }), rows: fc.nat(60) })

  test('D1 whatever is known and however large it is, it fits and cannot steer', () => {
    fc.assert(
      fc.property(fc.array(text, { maxLength: 20 }), text, sizes, (names, word, of) => {
        const listed = { agents: names.map((name) => agent(name)), total: names.length + 3, sums }
        const holds = names.map((name) => hold(name, { payer_id: word, agent_id: name }))
        const watched = names.reduce(
          (before, name) =>
            applyEvent(before, { topic: 'work', told: told(name, { because: word }) }),
          applyLists({ ...online, hub: word }, { ...listed, holds }, NOW),
        )
        const shown = lines(watched, of)
        assert.ok(shown.length <= of.rows, `${shown.length} of ${of.rows}`)
        for (const line of shown) {
          assert.ok(widthOf(line.replaceAll('\u200e', '')) < of.columns, JSON.stringify(line))
          assert.doesNotMatch(line, /[\p{Cc}\u202a-\u202e\u2066-\u2069\u2028\u2029]/u)
          assert.doesNotMatch(line, /\p{M}{3}/u)
        }
      }),
      { numRuns: 100 },
    )
  })
})

describe('text in columns', () => {
  const rows: readonly (readonly [rule: string, text: string, columns: number, shown: string])[] = [
    ['is filled up', 'ab', 4, 'ab  '],
    ['is cut with a sign', 'abcdef', 4, 'abc…'],
    ['is as it is where it fits', 'abcd', 4, 'abcd'],
    ['counts wide signs twice', '漢字', 5, '漢字 '],
    ['never shows half a sign', '漢字', 3, '漢…'],
    ['fills up for the half that is missing', '漢字字', 4, '漢… '],
    ['has no steering in it', 'a\u001b[2Jb', 6, 'a\ufffd[2Jb'],
    ['has nothing unseen in it', 'a\u200b\u00adb', 3, 'ab '],
    ['keeps an accent', 'e\u0301x', 2, 'éx'],
    ['has no heaps of marks', `x${'\u0323'.repeat(9)}`, 1, 'x\u0323\u0323'],
    ['keeps letters that run the other way in their cell', 'שלום', 6, '\u200eשלום\u200e  '],
    ['takes no room where there is none', 'abc', 0, ''],
  ]
  for (const [rule, text, columns, shown] of rows) {
    test(rule, () => assert.equal(fit(text, columns), shown))
  }
  test('stands at the right where it is asked to', () => assert.equal(fit('7', 3, 'right'), '  7'))
})
