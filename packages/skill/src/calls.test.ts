/**
 * What is left of a call: its record in the document's words, its metrics under the document's
 * names, and versions side by side.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { checkCallRecord } from '@chimera/dialects/skills/checks'
import { encodeCall } from '@chimera/dialects/skills/encode'
import type { CorrelationId } from '@chimera/domain/ids'
import { createMetrics } from '@chimera/host/metrics'
import { describe, test } from 'vitest'
import { createStage, hang, skillOf, steps } from '../test/stage.ts'
import { DefinitionError } from './define.ts'
import { SkillFailure } from './failure.ts'
import { createRunner } from './runner.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const net = new SkillFailure('NETWORK_ERROR')

describe('SK-3 the call record', () => {
  test('of a success, in the words of the document', async () => {
    const skill = steps(net, ({ n }) => ({ n: 2 * n }))
    const stage = createStage({ skills: [skillOf(skill.run)], agent: 'agent-1' })
    const call = { caller: 'agent-123', correlation: 't-1' as CorrelationId }
    const { answer } = await stage.until(stage.runner.run('double', { n: 4 }, call))
    const [record] = stage.records
    assert.ok(record)
    assert.deepEqual(answer.record, record)
    assert.deepEqual(encodeCall(record), {
      skill_name: 'double',
      agent_id: 'agent-123',
      timestamp: '2026-01-01T00:00:00Z',
      input_hash: sha256('{"n":4}'),
      output_hash: sha256('{"n":8}'),
      duration_ms: 1_000,
      error_code: null,
      retry_count: 1,
      success: true,
      trace_id: 't-1',
    })
  })

  // biome-ignore format: a table is read by its columns
  const rows: [rule: string, ask: string, input: unknown, code: string | null, retries: number][] = [
    ['of a failure',              'broken@v1', { n: 1 },   'NETWORK_ERROR',       3],
    ['of an input refused',       'broken',    { n: 'x' }, 'INVALID_INPUT',       0],
    ['of a skill that is not one', 'nothing',  { n: 1 },   'SKILL_NOT_FOUND',     0],
    ['of a version that is not run', 'broken@v9', { n: 1 }, 'VERSION_UNSUPPORTED', 0],
    ['of what cannot be written', 'broken',    1n,         'INVALID_INPUT',       0],
    ['of a skill that hangs',     'hangs',     { n: 1 },   'TIMEOUT',             3],
    ['of a success',              'fine',      { n: 1 },   null,                  0],
  ]
  for (const [rule, ask, input, code, retries] of rows) {
    test(`${rule} is one that the dialect takes`, async () => {
      const skills = [
        skillOf(steps(net).run, { name: 'broken' }),
        skillOf(hang, { name: 'hangs' }),
        skillOf(steps({ n: 1 }).run, { name: 'fine' }),
      ]
      const stage = createStage({ skills })
      await stage.until(stage.runner.run(ask, input))
      assert.equal(stage.records.length, 1)
      const [record] = stage.records
      const wire = encodeCall(record ?? assert.fail())
      assert.ok(checkCallRecord(wire).ok, JSON.stringify(wire))
      assert.deepEqual(
        [wire.error_code, wire.retry_count, wire.success],
        [code, retries, code === null],
      )
    })
  }

  test('a cached answer and a remembered one are calls, too', async () => {
    const skill = skillOf(steps({ n: 1 }).run, { cache: { ttl: '1m' } })
    const { runner, records } = createStage({ skills: [skill] })
    await runner.run(skill, { n: 1 })
    await runner.run(skill, { n: 1 })
    await runner.run(skill, { n: 1 }, { key: 'k' })
    await runner.run(skill, { n: 1 }, { key: 'k' })
    assert.equal(records.length, 4)
    assert.equal(new Set(records.map(({ output }) => output)).size, 1)
  })
})

describe('SK-4 metrics under the names of the document', () => {
  test('duration, errors by code, retries and the rate of successes', async () => {
    const metrics = createMetrics()
    const final = new SkillFailure('NOT_FOUND')
    const skill = steps({ n: 1 }, net, { n: 1 }, final, { n: 1 })
    const stage = createStage({ skills: [skillOf(skill.run, { name: 'fetch-it' })], metrics })
    for (let call = 0; call < 4; call += 1) {
      await stage.until(stage.runner.run('fetch-it', { n: 1 }))
    }
    const page = await metrics.text()
    for (const line of [
      'skill_fetch_it_duration_ms_count 4',
      'skill_fetch_it_duration_ms_sum 1000',
      'skill_fetch_it_errors_total{error_code="NOT_FOUND"} 1',
      'skill_fetch_it_retries_total 1',
      'skill_fetch_it_success_rate 0.75',
    ]) {
      assert.ok(page.includes(`${line}\n`), `${line} in\n${page}`)
    }
  })

  test('the rate is that of the last hundred calls, and recoveries are counted', async () => {
    const metrics = createMetrics()
    const unsafe = { words: 'Unsafe.', counts: 'rejections' } as const
    const skill = steps(new SkillFailure('UNSAFE'), { n: 1 })
    const more = { errors: { UNSAFE: unsafe } }
    const { runner } = createStage({ skills: [skillOf(skill.run, more)], metrics })
    for (let call = 0; call < 100; call += 1) await runner.run('double', { n: 1 })
    assert.ok((await metrics.text()).includes('skill_double_success_rate 0.99\n'))
    assert.ok((await metrics.text()).includes('skill_double_counted_total{what="rejections"} 1\n'))
    await runner.run('double', { n: 1 })
    assert.ok((await metrics.text()).includes('skill_double_success_rate 1\n'))
  })

  test('versions share their series, callers of one flight do not repeat its retries', async () => {
    const metrics = createMetrics()
    const cache = { ttl: '1m' } as const
    const skills = [
      skillOf(steps({ n: 1 }).run),
      skillOf(steps(net, { n: 2 }).run, { version: '2.0', cache }),
    ]
    const stage = createStage({ skills, metrics })
    await stage.runner.run('double@v1', { n: 1 })
    const both = [1, 2].map(() => stage.runner.run('double', { n: 1 }))
    await stage.until(Promise.all(both))
    const page = await metrics.text()
    assert.ok(page.includes('skill_double_duration_ms_count 3\n'))
    assert.ok(page.includes('skill_double_retries_total 1\n'))
  })

  test('nobody grows the page by asking for what is not there', async () => {
    const metrics = createMetrics()
    const { runner } = createStage({ skills: [skillOf(steps({ n: 1 }).run)], metrics })
    for (let each = 0; each < 20; each += 1) await runner.run(`x${each}`, {})
    assert.ok(!(await metrics.text()).includes('skill_x'))
  })
})

const DAY_MS = 86_400_000

describe('SK-5 versions side by side', () => {
  const startedAt = 1_767_225_600_000
  const skills = [
    skillOf(() => ({ n: 10 }), {
      version: '1.0',
      deprecation: { declaredAt: startedAt, removedAt: startedAt + 30 * DAY_MS },
    }),
    skillOf(() => ({ n: 12 }), { version: '1.2' }),
    skillOf(() => ({ n: 20 }), { version: '2.0' }),
  ]
  // biome-ignore format: a table is read by its columns
  const rows: [ask: string, answer: string][] = [
    ['double',      '{"n":20}'],
    ['double@v2',   '{"n":20}'],
    ['double@v1',   '{"n":12}'],
    ['double@v1.0', '{"n":12}'],
    ['double@v1.2', '{"n":12}'],
    ['double@v1.3', 'VERSION_UNSUPPORTED double@v1.0 double@v1.2 double@v2.0'],
    ['double@v3',   'VERSION_UNSUPPORTED double@v1.0 double@v1.2 double@v2.0'],
    ['triple',      'SKILL_NOT_FOUND'],
    ['double@1',    'SKILL_NOT_FOUND'],
    ['',            'SKILL_NOT_FOUND'],
  ]
  for (const [ask, answer] of rows) {
    test(`SK-5 ${ask === '' ? 'nothing' : ask} gets ${answer}`, async () => {
      const { runner } = createStage({ skills })
      const outcome = await runner.run(ask, { n: 1 })
      const said = outcome.ok
        ? JSON.stringify(outcome.output)
        : [outcome.error.code, ...(outcome.error.versions ?? [])].join(' ')
      assert.equal(said, answer)
    })
  }

  test('who calls a deprecated version is told until when it runs, and it does', async () => {
    const [old] = skills
    const { runner, clock } = createStage({ skills: [old ?? assert.fail()] })
    const first = await runner.run('double@v1', { n: 1 })
    assert.deepEqual(first.notice, { skill: 'double@v1.0', removedAt: startedAt + 30 * DAY_MS })
    const refused = await runner.run('double@v1', { n: 'x' })
    assert.ok(refused.notice, 'a refusal tells it, too')
    await clock.advanceBy(30 * DAY_MS - 1)
    assert.ok((await runner.run('double@v1', { n: 1 })).ok)
    assert.equal(runner.offers().length, 1)
    await clock.advanceBy(1)
    const gone = await runner.run('double@v1', { n: 1 })
    assert.equal(!gone.ok && gone.error.code, 'SKILL_NOT_FOUND')
    assert.equal(runner.offers().length, 0)
  })

  test('a runner refuses three majors, a version twice, and no skill at all', () => {
    const of = (version: string) => skillOf(() => ({ n: 1 }), { version })
    for (const list of [['1.0', '2.0', '3.0'], ['1.0', '1.0'], []]) {
      assert.throws(() => createRunner({ skills: list.map(of) }), DefinitionError)
    }
  })

  test('offers are what an agent declares', () => {
    const { runner } = createStage({
      skills: [
        skillOf(() => ({ n: 1 }), {
          price: 0.05,
          duration: '2s',
          approval: true,
          category: 'trend_analysis',
        }),
      ],
    })
    const [offer] = runner.offers()
    const { input, output, ...rest } = offer ?? assert.fail()
    assert.deepEqual(rest, {
      name: 'double',
      version: { major: 1, minor: 0 },
      description: 'double',
      priceCents: 5,
      needsApproval: true,
      durationMs: 2_000,
      category: 'trend_analysis',
    })
    assert.deepEqual([input?.type, output?.type], ['object', 'object'])
  })

  test('a call can be examined without making it', async () => {
    const skill = steps({ n: 1 })
    const { runner, records } = createStage({ skills: [skillOf(skill.run)] })
    assert.ok(runner.examine('double', { n: 1 }).ok)
    const refused = runner.examine('double', { n: 'x' })
    assert.equal(!refused.ok && refused.error.issues[0]?.path, '/n')
    assert.deepEqual([skill.calls(), records], [0, []])
  })
})
