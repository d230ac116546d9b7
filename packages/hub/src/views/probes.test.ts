/** Which places are due, and when: once a period, however many name them. */
import assert from 'node:assert/strict'
import { LIMITS } from '@chimera/domain/limits'
import { BRAKE_OFF } from '@chimera/domain/presence/eviction'
import type { ProbeResult } from '@chimera/domain/presence/probe'
import { test } from 'vitest'
import { createProbes, type Probes } from './probes.ts'

const NOW = 1_770_000_000_000
const { probeMs } = LIMITS
const placesDue = (probes: Probes, addresses: readonly string[], now: number) =>
  probes.due(addresses, now).map(({ place }) => place)
const end = (probes: Probes, place: string, result: ProbeResult, now: number) =>
  probes.note({ ended: [{ address: place, sentAt: now, result }], brake: BRAKE_OFF }, now)

test('O1 a place is asked once a period, by whatever paths and by however many', () => {
  const probes = createProbes(() => 0)
  const addresses = ['https://a.example/1', 'https://a.example/2?x', 'https://b.example/1']
  const due = probes.due([...addresses, 'https://a.example/1'], NOW)
  assert.deepEqual(due, [
    { place: 'https://a.example', address: 'https://a.example/1' },
    { place: 'https://b.example', address: 'https://b.example/1' },
  ])
  end(probes, 'https://a.example', 'answered', NOW)
  assert.deepEqual(placesDue(probes, addresses, NOW + 1), ['https://b.example'])
  end(probes, 'https://b.example', 'skipped', NOW + 1)
  assert.deepEqual(placesDue(probes, addresses, NOW + probeMs - 1), [])
  assert.deepEqual(placesDue(probes, addresses, NOW + probeMs), ['https://a.example'])
})

test('O1 leaving and coming back does not make it due sooner', () => {
  const probes = createProbes(() => 0)
  const addresses = ['https://a.example/1']
  probes.due(addresses, NOW)
  end(probes, 'https://a.example', 'answered', NOW)
  assert.deepEqual(placesDue(probes, [], NOW + 1), [])
  assert.deepEqual(placesDue(probes, addresses, NOW + probeMs - 1), [])
})

test('the first probe of each is left to chance', () => {
  const draws = [0.5, 0]
  const probes = createProbes(() => draws.shift() ?? 0)
  const addresses = ['https://a.example/', 'https://b.example/', 'not an address']
  assert.deepEqual(placesDue(probes, addresses, NOW), ['https://b.example'])
  end(probes, 'https://b.example', 'answered', NOW)
  assert.deepEqual(placesDue(probes, addresses, NOW + probeMs / 2 - 1), [])
  assert.deepEqual(placesDue(probes, addresses, NOW + probeMs / 2), ['https://a.example'])
})

test('what was asked in vain is held against every address of the place', () => {
  const probes = createProbes(() => 0)
  const addresses = ['https://a.example/1', 'https://a.example/2', 'https://b.example/']
  probes.due(addresses, NOW)
  end(probes, 'https://b.example', 'answered', NOW)
  end(probes, 'https://a.example', 'unanswered', NOW + 1)
  assert.deepEqual(addresses.map(probes.unansweredAt), [NOW + 1, NOW + 1, undefined])
})
