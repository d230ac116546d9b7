/** One thing wrong at a time: each is seen, and by its own row alone. */
import assert from 'node:assert/strict'
import type { TaskId } from '@chimera/domain/ids'
import { describe, test } from 'vitest'
import type { Ended } from './drive.ts'
import type { Left } from './exam.ts'
import type { Hire } from './tally.ts'
import { type Driven, judgeLeft, judgeMemory, renderRows, type Sample } from './verdict.ts'

const hire: Hire = {
  task: 't1' as TaskId,
  stage: 'captured',
  costCents: 1_000,
  othersCents: 60,
  open: 0,
}
const done = { spentCents: 60, published: ['a twitter'] }
const ended: Ended = { id: 'c1', task: 't1', done }
const DRIVEN: Driven = { begun: 1, ended: [ended], approved: 1, given: 100 }
const LEFT: Left = {
  books: { balanced: true, minted: 100, in_holds: 0, standing_holds: 0 },
  hirerHas: 90,
  trail: { facts: 7, hires: [hire] },
  letters: 0,
  alerts: [],
  busy: [],
  posts: ['a twitter'],
  refused: 0,
}
const failed = { id: 'c1', task: 't1', failed: 'no time' }

// biome-ignore format: a table is read by its columns
const rows: [what: string, wrong: string[], driven: Partial<Driven>, left: Partial<Left>][] = [
  ['all is well',                    [],                                  {},                        {}],
  ['one did not end',                ['campaigns'],                       { begun: 2 },              {}],
  ['one failed',                     ['campaigns', 'posts'],              { ended: [failed] },       {}],
  ['credits are missing',            ['books'],                           {}, { books: { ...LEFT.books, balanced: false } }],
  ['a hold is open',                 ['books'],                           {}, { books: { ...LEFT.books, standing_holds: 1 } }],
  ['a part of a chain is open',      ['spent is not what was captured'],  {}, { trail: { facts: 7, hires: [{ ...hire, open: 1 }] } }],
  ['more was captured than spent',   ['spent is not what was captured'],  {}, { trail: { facts: 7, hires: [{ ...hire, othersCents: 61 }] } }],
  ['nobody paid',                    ['spent is not what was captured', 'hirer'], {}, { trail: { facts: 7, hires: [] } }],
  ['a hundredth too much was paid',  ['hirer'],                           {}, { hirerHas: 89.99 }],
  ['the chain is broken',            ['audit'],                           {}, { trail: 'broken at 3' }],
  ['a letter was given up',          ['dead letters'],                    {}, { letters: 1 }],
  ['a slot is taken',                ['slots and work that did not end'], {}, { busy: ['judge'] }],
  ['somebody was alerted',           ['alerts'],                          {}, { alerts: ['feed_silent'] }],
  ['an answer broke its schema',     ['answers that broke their schema'], {}, { refused: 2 }],
  ['a piece was posted twice',       ['posted more than once', 'posts'],  {}, { posts: ['a twitter', 'a twitter'] }],
  ['a piece was never posted',       ['published and not posted', 'posts'], {}, { posts: [] }],
  ['posted without a yes',           ['posts'],                           { approved: 0 },           {}],
]

describe('the verdict', () => {
  for (const [what, wrong, driven, left] of rows) {
    test(what, () => {
      const judged = judgeLeft({ ...DRIVEN, ...driven }, { ...LEFT, ...left })
      const broken = judged.filter(({ ok }) => !ok)
      assert.deepEqual(
        broken.map((row) => row.what),
        wrong,
      )
      assert.equal(renderRows(judged).match(/✗/g)?.length ?? 0, wrong.length)
    })
  }

  const samples = (step: number): readonly Sample[] =>
    Array.from({ length: 60 }, (_, ended) => {
      const held = 50e6 + ended * step
      return { ended, held, rss: 4 * held, delayMs: 1 }
    })

  test('memory is judged by the campaign: what a process holds, and what it takes', () => {
    const ok = (step: number) => judgeMemory('hub', samples(step)).map((row) => row.ok)
    assert.deepEqual(ok(0), [true, true])
    assert.deepEqual(ok(48 * 1_024), [false, true])
    assert.deepEqual(ok(128 * 1_024), [false, false])
    assert.deepEqual(
      judgeMemory('hub', []).map((row) => row.ok),
      [false, false],
    )
  })
})
