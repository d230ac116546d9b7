/** Notices: written by one hub, read by another, believed only by their key. */
import assert from 'node:assert/strict'
import type { AgentId } from '@chimera/domain/ids'
import { generateKeyPair } from '@chimera/identity/keys'
import { describe, test } from 'vitest'
import { createNoticeReader, type Draft, encodeNotice, isNoticeBy } from './notice.ts'

const key = generateKeyPair()
const draft = (more: Partial<Draft> = {}): Draft => ({
  by: 'one',
  told: ['{"topic":"presence","at":5,"message":{"agent_id":"ä"}}'],
  beats: [['a' as AgentId, 7]],
  noted: [{ kind: 'status', subject: 'Bee' }],
  sealed: 3,
  changed: false,
  ...more,
})
const read = createNoticeReader(key)

describe('a notice', () => {
  test('is read as it was written', () => {
    assert.deepEqual(read(encodeNotice(draft(), key)), {
      by: 'one',
      told: [{ topic: 'presence', at: 5, message: { agent_id: 'ä' } }],
      beats: [['a', 7]],
      noted: [{ kind: 'status', subject: 'Bee' }],
      sealed: 3,
      changed: false,
    })
  })

  test('N1 is nothing under another key, unsigned, or changed on its way', () => {
    const good = encodeNotice(draft(), key)
    assert.equal(read(encodeNotice(draft(), generateKeyPair())), undefined)
    assert.equal(read(encodeNotice(draft(), undefined)), undefined)
    for (let at = 0; at < good.length; at += 7) {
      const changed = Uint8Array.from(good)
      changed[at] = (changed[at] ?? 0) ^ 1
      assert.equal(read(changed), undefined, `byte ${at}`)
    }
    for (const length of [0, 63, 64, good.length - 1]) {
      assert.equal(read(good.subarray(0, length)), undefined, `${length} bytes`)
    }
  })

  test('is known by whom it is before it is read', () => {
    const bytes = encodeNotice({ ...draft(), by: 'one "1"' }, key)
    assert.equal(isNoticeBy(bytes, 'one "1"'), true)
    for (const other of ['one', 'one "1', 'one "2"', '']) {
      assert.equal(isNoticeBy(bytes, other), false, other)
    }
    assert.equal(isNoticeBy(bytes.subarray(0, 70), 'one "1"'), false)
    assert.equal(isNoticeBy(new Uint8Array(), ''), false)
  })

  test('N1 open hubs believe one that is not signed', () => {
    const open = createNoticeReader(undefined)
    assert.equal(open(encodeNotice(draft(), undefined))?.by, 'one')
  })

  // biome-ignore format: a table is read by its columns
  const odd: [what: string, told: string][] = [
    ['an unknown topic',   '{"topic":"weather","at":5,"message":{}}'],
    ['no time',            '{"topic":"presence","message":{}}'],
    ['no message',         '{"topic":"presence","at":5}'],
    ['a message of text',  '{"topic":"presence","at":5,"message":"x"}'],
    ['nothing',            'null'],
  ]
  for (const [what, told] of odd) {
    test(`N3 passes over ${what}`, () => {
      const notice = read(encodeNotice(draft({ told: [told, ...draft().told] }), key))
      assert.equal(notice?.told.length, 1)
    })
  }

  test('N3 what is no notice at all is none, though a hub has signed it', () => {
    assert.equal(read(encodeNotice(draft({ told: ['{'] }), key)), undefined)
    assert.equal(read(encodeNotice({ ...draft(), by: 1 as unknown as string }, key)), undefined)
  })
})
