/** SK-5: which version a caller gets, and what an agent may offer. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import {
  decideOffers,
  readSkillRef,
  resolveSkill,
  type VersionOffer,
  writeSkillVersion,
} from './skill-version.ts'

const NOW = 1_000_000
const DAY = 86_400_000
const offer = (text: string, deprecation?: VersionOffer['deprecation']): VersionOffer => {
  const { name = '', major = 1, minor = 0 } = readSkillRef(text) ?? {}
  const base = { name, version: { major, minor } }
  return deprecation === undefined ? base : { ...base, deprecation }
}
const ending = (days: number) => ({ declaredAt: NOW, removedAt: NOW + days * DAY })

// biome-ignore format: a table is read by its columns
const readings: [text: string, expect: ReturnType<typeof readSkillRef>][] = [
  ['word_count',       { name: 'word_count' }],
  ['word_count@v2',    { name: 'word_count', major: 2 }],
  ['word_count@v1.10', { name: 'word_count', major: 1, minor: 10 }],
  ['word_count@v01',   undefined],
  ['word_count@1.0',   undefined],
  ['word_count@v1.0.0', undefined],
  ['word count',       undefined],
  ['@v1.0',            undefined],
  ['',                 undefined],
]
describe('SK-5 a reference to a skill', () => {
  for (const [text, expect] of readings) {
    test(`"${text}" is ${expect === undefined ? 'refused' : 'read'}`, () => {
      assert.deepEqual(readSkillRef(text), expect)
    })
  }
})

const both = [offer('sum@v1.2'), offer('sum@v2.0'), offer('sum@v2.1'), offer('other@v1.0')]
// biome-ignore format: a table is read by its columns
const resolutions: [rule: string, asked: string, answer: string][] = [
  ['a bare name gets the newest',              'sum',       'sum@v2.1'],
  ['a major gets its newest minor',            'sum@v1',    'sum@v1.2'],
  ['a minor gets itself or a newer one',       'sum@v2.0',  'sum@v2.1'],
  ['a newer minor than there is gets nothing', 'sum@v1.3',  'skill_version_unsupported'],
  ['nor does a major that is not offered',     'sum@v3',    'skill_version_unsupported'],
  ['a name that nobody offers is unknown',     'product',   'skill_unknown'],
]
describe('SK-5 the version that a caller gets', () => {
  for (const [rule, asked, answer] of resolutions) {
    test(rule, () => {
      const resolved = resolveSkill(both, readSkillRef(asked) ?? { name: '' }, NOW)
      assert.equal(
        resolved.ok
          ? writeSkillVersion(resolved.offer.name, resolved.offer.version)
          : resolved.refusal,
        answer,
      )
    })
  }
  test('a caller of a deprecated version is told until when it runs, and then it is gone', () => {
    const offers = [offer('sum@v1.0', ending(30)), offer('sum@v2.0')]
    const during = resolveSkill(offers, { name: 'sum', major: 1 }, NOW)
    assert.deepEqual(during.ok && during.notice, { skill: 'sum@v1.0', removedAt: NOW + 30 * DAY })
    const later = resolveSkill(offers, { name: 'sum', major: 1 }, NOW + 30 * DAY)
    assert.equal(!later.ok && later.refusal, 'skill_version_unsupported')
  })
})

// biome-ignore format: a table is read by its columns
const lists: [rule: string, offers: VersionOffer[], answer: string][] = [
  ['two majors run side by side',                both,                                                    'ok'],
  ['a third major is one too many',              [offer('a@v1'), offer('a@v2'), offer('a@v3')],           'skills_invalid'],
  ['the same version twice is a mistake',        [offer('a@v1.0'), offer('a@v1.0')],                      'skills_invalid'],
  ['an agent without a skill is not one',        [],                                                      'skills_invalid'],
  ['a hundred skills are allowed',               Array.from({ length: 100 }, (_, n) => offer(`s${n}`)),   'ok'],
  ['and one more is not',                        Array.from({ length: 101 }, (_, n) => offer(`s${n}`)),   'skills_invalid'],
  ['a notice of 30 days is enough',              [offer('a@v1', ending(30))],                             'ok'],
  ['a notice of 29 days is not',                 [offer('a@v1', ending(29))],                             'notice_too_short'],
]
describe('SK-5 what an agent may offer', () => {
  for (const [rule, offers, answer] of lists) {
    test(rule, () => {
      const decision = decideOffers(offers)
      assert.equal(decision.ok ? 'ok' : decision.refusal, answer)
    })
  }
})

test('SK-5 V3 a caller gets the newest of what it asked for, or nothing', () => {
  const number = fc.integer({ min: 0, max: 4 })
  const offered = fc.record({
    version: fc.record({ major: number, minor: number }),
    removedIn: fc.option(fc.integer({ min: -2, max: 2 }), { nil: undefined }),
  })
  const asked = fc.record({ major: fc.option(number, { nil: undefined }) })
  fc.assert(
    fc.property(fc.array(offered, { maxLength: 8 }), asked, (list, { major }) => {
      const offers = list.map(({ version, removedIn }): VersionOffer => {
        const deprecation = { declaredAt: NOW - 60 * DAY, removedAt: NOW + (removedIn ?? 0) * DAY }
        return { name: 'sum', version, ...(removedIn !== undefined && { deprecation }) }
      })
      const fits = offers.filter(
        ({ version, deprecation }) =>
          (major === undefined || version.major === major) &&
          NOW < (deprecation?.removedAt ?? NOW + 1),
      )
      const resolved = resolveSkill(
        offers,
        { name: 'sum', ...(major !== undefined && { major }) },
        NOW,
      )
      assert.equal(resolved.ok, fits.length > 0)
      if (!resolved.ok) return
      const place = ({ version }: VersionOffer) => version.major * 10 + version.minor
      assert.equal(place(resolved.offer), Math.max(...fits.map(place)))
      assert.equal(resolved.notice?.removedAt, resolved.offer.deprecation?.removedAt)
    }),
  )
})
