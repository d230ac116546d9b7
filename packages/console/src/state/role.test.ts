/** Whom the page takes the caller for, and what it offers then. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { may, roleOf, screensFor } from './role.ts'

type You = Parameters<typeof roleOf>[0]['you']
const told = (kind: You['kind'], scopes: You['scopes'] = []) => ({ you: { kind, scopes } })

describe('roles', () => {
  for (const [why, who, role] of [
    ['whoever reaches an open hub', told('anybody', ['read', 'review']), 'anybody'],
    ['an operator', told('operator', ['read']), 'operator'],
    ['an owner', told('owner', ['read', 'agents', 'money', 'review']), 'owner'],
    ['who may look and not answer', told('owner', ['read']), 'owner'],
    ['who answers and moves nothing', told('owner', ['read', 'review']), 'reviewer'],
  ] as const) {
    test(`${why} is ${role}`, () => assert.equal(roleOf(who), role))
  }
  test('only operators are offered what is theirs', () => {
    assert.ok(screensFor(told('operator')).includes('operate'))
    assert.ok(!screensFor(told('owner')).includes('operate'))
  })
  test('a reviewer begins where it is waited for', () => {
    const [first, ...others] = screensFor(told('owner', ['read', 'review']))
    assert.equal(first, 'review')
    assert.ok(!others.includes('review') && !others.includes('operate'))
  })
  test('a scope is had or not', () => {
    assert.ok(may(told('owner', ['money']), 'money'))
    assert.ok(!may(told('owner', ['money']), 'agents'))
  })
})
