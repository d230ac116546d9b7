/** What is left of a life that has ended: nothing that runs, everything that was kept. */
import assert from 'node:assert/strict'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import { test } from 'vitest'
import { beginLife } from './mortal.ts'

const soon = () => new Promise((resolve) => setImmediate(resolve))

test('D1 after the end no timer runs, set before or after', async () => {
  const clock = createVirtualClock()
  const life = beginLife(clock)
  const ran: string[] = []
  life.clock.after(10, () => ran.push('in time'))
  life.clock.after(30, () => ran.push('too late'))
  void life.clock.sleep(30).then(() => ran.push('woken'))
  await clock.advanceBy(20)
  life.end()
  life.clock.after(5, () => ran.push('from the grave'))
  await clock.advanceBy(100)
  assert.deepEqual(ran, ['in time'])
  assert.deepEqual(clock.pending(), [])
})

test('D1 D2 a call under way does not come back, and what it kept is kept', async () => {
  const kept: string[] = []
  const port = {
    durable: true,
    save: async (what: string): Promise<void> => {
      await soon()
      kept.push(what)
    },
  }
  const life = beginLife(createVirtualClock())
  const lent = life.lend(port)
  assert.equal(lent.durable, true)
  await lent.save('first')
  let back = false
  void lent.save('under way').finally(() => {
    back = true
  })
  life.end()
  void lent.save('after the end')
  await soon()
  await soon()
  assert.deepEqual([kept, back], [['first', 'under way'], false])
})
