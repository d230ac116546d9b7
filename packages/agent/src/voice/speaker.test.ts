/** One voice at work: one message at a time, never too many, and a last word. */
import assert from 'node:assert/strict'
import { MANNERS } from '@chimera/domain/voice/cadence'
import type { PublishOutcome } from '@chimera/domain/voice/publishing'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import { test } from 'vitest'
import { createHubCourse } from './course.ts'
import { createSpeaker } from './speaker.ts'

const YES: PublishOutcome = { type: 'answered', status: 204 }
const MINUTE = 60_000
const saying = (state: string) => ({ state, rhythm: 'steady' }) as const
const soon = () => AbortSignal.timeout(5_000)

function setUp(answer: (state: string) => Promise<PublishOutcome> = async () => YES) {
  const clock = createVirtualClock({ startAt: 0 })
  const said: string[] = []
  const speaker = createSpeaker({
    clock,
    manner: MANNERS.presence,
    course: createHubCourse({ fraction: () => 0, refused: 'drop' }),
    first: saying('a'),
    send: (spoken) => {
      said.push(`${spoken.at} ${spoken.state}`)
      return answer(spoken.state)
    },
  })
  return { clock, said, speaker }
}

test('nothing is said before it is opened', async () => {
  const { clock, said, speaker } = setUp()
  speaker.change(saying('b'))
  await clock.advanceBy(MINUTE)
  assert.deepEqual(said, [])
  speaker.open()
  await clock.advanceBy(0)
  assert.deepEqual(said, ['60000 b'])
})

test('S1 what changes while a message is under way is said after it, once', async () => {
  const answers: (() => void)[] = []
  const { clock, said, speaker } = setUp(
    () => new Promise((resolve) => answers.push(() => resolve(YES))),
  )
  speaker.open()
  await clock.advanceBy(0)
  for (const state of ['b', 'c', 'd']) {
    await clock.advanceBy(2_000)
    speaker.change(saying(state))
  }
  await clock.advanceBy(2_000)
  assert.deepEqual(said, ['0 a'])
  answers.pop()?.()
  await clock.advanceBy(0)
  assert.deepEqual(said, ['0 a', '8000 d'])
})

test('never more than sixty in any minute, however often it changes', async () => {
  const { clock, said, speaker } = setUp()
  speaker.open()
  for (let each = 0; each < 3_000; each += 1) {
    speaker.change(saying(`${each}`), 'urgent')
    await clock.advanceBy(100)
  }
  const times = said.map((line) => Number(line.split(' ')[0]))
  for (const from of times) {
    const inMinute = times.filter((at) => at >= from && at < from + MINUTE)
    assert.ok(inMinute.length <= 60, `${inMinute.length} after ${from}`)
  }
  assert.ok(times.length >= 240, 'and not much fewer')
})

test('S3 a sender that throws is tried again like one that is not answered', async () => {
  let throws = true
  const { clock, said, speaker } = setUp(() => {
    if (throws) throw new Error('no')
    return Promise.resolve(YES)
  })
  speaker.open()
  await clock.advanceBy(0)
  throws = false
  await clock.advanceBy(1_000)
  assert.deepEqual(said, ['0 a', '1000 a'])
})

test('S4 the last word is what is so, once, and nothing follows it', async () => {
  const { clock, said, speaker } = setUp()
  speaker.open()
  await clock.advanceBy(100)
  speaker.change(saying('gone'))
  await speaker.close(soon())
  await speaker.close(soon())
  speaker.change(saying('back'))
  speaker.again()
  await clock.advanceBy(MINUTE)
  assert.deepEqual(said, ['0 a', '100 gone'])
  assert.deepEqual(clock.pending(), [])
})

test('S4 nothing is left to say where all was said', async () => {
  const { clock, said, speaker } = setUp()
  speaker.open()
  await clock.advanceBy(100)
  await speaker.close(soon())
  assert.deepEqual(said, ['0 a'])
})

test('who waits is told when all was said and taken, and not before', async () => {
  let answer: PublishOutcome = { type: 'unanswered' }
  const { clock, speaker } = setUp(async () => answer)
  speaker.open()
  let settled: boolean | undefined
  const waits = speaker.settled(soon()).then((is) => {
    settled = is
    return is
  })
  await clock.advanceBy(500)
  assert.equal(settled, undefined)
  answer = YES
  await clock.advanceBy(500)
  assert.equal(await waits, true)
  speaker.change(saying('b'))
  assert.equal(await speaker.settled(AbortSignal.abort()), false)
})
