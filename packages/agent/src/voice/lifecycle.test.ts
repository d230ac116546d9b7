/** The lifecycle as something that is watched; its rules are tested in the domain. */
import assert from 'node:assert/strict'
import { createLog } from '@chimera/host/log'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import { test } from 'vitest'
import { createLifecycle } from './lifecycle.ts'

function setUp() {
  const clock = createVirtualClock()
  const log = createLog({ clock, name: 'agent', level: 'silent' })
  return createLifecycle({ clock, log, slots: 3 })
}

test('it begins stopped with its slots free, and starts by its work', () => {
  const lifecycle = setUp()
  const { condition, workload } = lifecycle.standing()
  assert.deepEqual([condition.name, workload.slotsFree], ['stopped', 3])
  lifecycle.order({ type: 'start' })
  assert.equal(lifecycle.standing().condition.name, 'idle')
})

test('L1 watchers hear each change once, in order, also those made while one is told', () => {
  const lifecycle = setUp()
  const heard: string[] = []
  lifecycle.watch(({ condition }) => {
    if (condition.name === 'idle') lifecycle.order({ type: 'pause' })
  })
  const unwatch = lifecycle.watch(({ condition }, before) => {
    heard.push(`${before.condition.name}→${condition.name}`)
  })
  lifecycle.order({ type: 'start' })
  assert.deepEqual(heard, ['stopped→idle', 'idle→paused'])
  lifecycle.order({ type: 'pause' })
  assert.equal(lifecycle.order({ type: 'recover' }).ok, false)
  assert.equal(heard.length, 2, 'nothing new, and what is refused, are no changes')
  unwatch()
  lifecycle.order({ type: 'drain' })
  assert.equal(heard.length, 2)
})

test('L2 a watcher that fails harms nobody', () => {
  const lifecycle = setUp()
  let told = 0
  lifecycle.watch(() => {
    throw new Error('no')
  })
  lifecycle.watch(() => {
    told += 1
  })
  assert.ok(lifecycle.order({ type: 'start' }).ok)
  lifecycle.order({ type: 'drain' })
  assert.equal(told, 2)
})
