/** What is kept of the roll-out over restarts, on a real disk. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Rollout } from '@chimera/domain/voice/rollout'
import { afterAll, describe, test } from 'vitest'
import { setStage } from '../../test/voicing.ts'
import type { Posted } from './feed-door.ts'
import { openRolloutFile } from './rollout-file.ts'

const home = mkdtempSync(join(tmpdir(), 'chimera-rollout-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))
const MINUTE = 60_000
const answered = (status: number): Posted => ({ outcome: { type: 'answered', status } })
const off: Rollout = { stage: 'off', resumes: 'canary', since: 7, buckets: [] }

describe('the file', () => {
  test('holds what was kept, for the settings under which it was kept', () => {
    const path = join(home, 'a.json')
    assert.equal(openRolloutFile(path, 'x').load(), undefined)
    openRolloutFile(path, 'x').save(off)
    assert.deepEqual(openRolloutFile(path, 'x').load(), off)
    assert.equal(openRolloutFile(path, 'y').load(), undefined)
    assert.deepEqual(readdirSync(home), ['a.json'])
  })

  for (const text of ['', '{', '[]', 'null', '{"stage":"on"}', '{"stage":"off","settings":"x"}']) {
    test(`${text === '' ? 'nothing' : text} counts as none`, () => {
      const path = join(home, 'b.json')
      writeFileSync(path, text)
      assert.equal(openRolloutFile(path, 'x').load(), undefined)
    })
  }
})

test('SF-13 what trouble switched off stays off over a restart, until it is ordered', async () => {
  const { self } = await setStage()
  const kept = { ...self, directory: home }
  let answer = answered(400)
  const start = async () => {
    const stage = await setStage({ self: kept, feedAnswers: () => answer, feedTerms: { share: 1 } })
    await stage.start()
    await stage.clock.advanceBy(5 * MINUTE)
    return stage
  }
  const first = await start()
  assert.equal(first.said('feed').length, 1)
  await first.voices.stop(AbortSignal.timeout(5_000))
  answer = answered(202)
  const second = await start()
  assert.deepEqual([second.said('feed').length, second.voices.feed?.rollout().stage], [0, 'off'])
  second.voices.feed?.steer({}, 'switch_on')
  await second.clock.advanceBy(0)
  assert.equal(second.said('feed').length, 1)
  await second.voices.stop(AbortSignal.timeout(5_000))
  const third = await start()
  assert.equal(third.voices.feed?.rollout().stage, 'canary')
  await third.voices.stop(AbortSignal.timeout(5_000))
})
