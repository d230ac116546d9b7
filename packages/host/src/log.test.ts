/** lines are read as they were written, for every way in which one can be filled. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { hostname } from 'node:os'
import type { CorrelationId } from '@chimera/domain/ids'
import { type ContextManager, context, trace } from '@opentelemetry/api'
import { describe, test } from 'vitest'
import { correlated, createLog, LOG_LEVELS, type Log, type LogOptions } from './log.ts'
import { createVirtualClock } from './virtual-clock.ts'

const random = 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6'
const token = `chm_${random}`
const NOW = 1_767_225_600_000

type Line = { readonly [field: string]: unknown }

function keep(options: Partial<LogOptions> = {}): { log: Log; lines: () => readonly Line[] } {
  const written: string[] = []
  const log = createLog({
    clock: createVirtualClock({ startAt: NOW }),
    name: 'hub',
    level: 'trace',
    destination: { write: (line) => written.push(line) },
    ...options,
  })
  return {
    log,
    lines: () => written.map((line) => JSON.parse(line)),
  }
}

test('a line says when, how bad, who and what, and not on which machine', () => {
  const { log, lines } = keep()
  log.info({ slots: 3 }, 'agent registered')
  assert.deepEqual(lines(), [
    {
      level: 'info',
      time: '2026-01-01T00:00:00.000Z',
      name: 'hub',
      slots: 3,
      msg: 'agent registered',
    },
  ])
  assert.ok(!JSON.stringify(lines()).includes(`"${hostname()}"`))
})

describe('levels', () => {
  for (const [rank, level] of LOG_LEVELS.entries()) {
    test(`at ${level} nothing milder is written`, () => {
      const { log, lines } = keep({ level })
      for (const each of LOG_LEVELS) log[each]('said')
      assert.deepEqual(
        lines().map((line) => line.level),
        LOG_LEVELS.slice(rank).filter((each) => each !== 'silent'),
      )
    })
  }
})

describe('X-4 the correlation id', () => {
  test('is on every line of its child, and of the child’s children', () => {
    const { log, lines } = keep()
    const own = correlated(log, 'c-1' as CorrelationId)
    own.info('one')
    own.child({ agent_id: 'a' }).warn('two')
    log.info('three')
    assert.deepEqual(
      lines().map((line) => [line.msg, line.correlation_id]),
      [
        ['one', 'c-1'],
        ['two', 'c-1'],
        ['three', undefined],
      ],
    )
  })

  test('stands beside the ids of the span that is active', () => {
    const { log, lines } = keep()
    const ids = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), traceFlags: 1 }
    const around = trace.setSpanContext(context.active(), ids)
    const manager: ContextManager = {
      active: () => around,
      with: (_, run, self, ...args) => run.apply(self, args),
      bind: (_, target) => target,
      enable: () => manager,
      disable: () => manager,
    }
    context.setGlobalContextManager(manager)
    try {
      correlated(log, 'c-1' as CorrelationId).info('said')
    } finally {
      context.disable()
    }
    const [line] = lines()
    assert.equal(line?.trace_id, ids.traceId)
    assert.equal(line?.span_id, ids.spanId)
    assert.equal(line?.correlation_id, 'c-1')
  })
})

class DriverError extends Error {
  readonly detail = `login with ${token} failed`
  readonly config = { headers: { authorization: `Bearer ${random}` } }
}

const failure = new DriverError(`no route to db-primary-1:5432 for ${token}`, {
  cause: new Error(`password=${random} was refused`),
})

// biome-ignore format: a table is read by its columns
const ways: Readonly<Record<string, (log: Log) => void>> = {
  'in the message':             (log) => log.info(`got ${token}`),
  'in an interpolated message': (log) => log.info('got %s and %o', token, { token }),
  'in a field':                 (log) => log.info({ note: `got ${token}` }, 'said'),
  'deep in a field':            (log) => log.info({ a: [{ b: { c: [`x ${token}`] } }] }, 'said'),
  'under a secret name':        (log) => log.info({ apiKey: random, seed_phrase: random }, 'said'),
  'as the name of a field':     (log) => log.info({ seen: { [token]: 1 } }, 'said'),
  'in a field of a child':      (log) => log.child({ caller: token }).info('said'),
  'under a secret name there':  (log) => log.child({ password: random }).info('said'),
  'behind a field of its name': (log) => log.child({ note: token }).info({ note: 'x', more: token }, 'said'),
  'in an error':                (log) => log.error(failure),
  'in an error field':          (log) => log.error({ err: failure }, 'failed'),
  'in an error elsewhere':      (log) => log.error({ problem: { err: failure } }, 'failed'),
  'in a list of errors':        (log) => log.error({ err: new AggregateError([failure], token) }, 'failed'),
  'by a serializer':            (log) => log.child({}, { serializers: { req: () => ({ note: token }) } }).info({ req: 1 }, 'said'),
  'by toJSON':                  (log) => log.info({ odd: { toJSON: () => ({ note: token }) } }, 'said'),
  'in JSON inside a string':    (log) => log.info({ body: JSON.stringify({ client_secret: random }) }, 'said'),
  'in a message prefix':        (log) => log.child({}, { msgPrefix: `[${token}] ` }).info('said'),
}

describe('X-5 a planted secret does not reach the output', () => {
  for (const [how, write] of Object.entries(ways)) {
    for (const showInside of [false, true]) {
      test(`${how}${showInside ? ', with the inside shown' : ''}`, () => {
        const { log, lines } = keep({ showInside })
        write(log)
        const shown = JSON.stringify(lines())
        assert.equal(lines().length, 1)
        assert.ok(shown.includes('[secret removed]'), shown)
        assert.ok(!shown.includes(random), shown)
      })
    }
  }
})

describe('X-5 names of the inside', () => {
  const fail = (log: Log) => log.error({ err: failure }, 'could not open /etc/chimera/hub.json')

  test('hosts, paths and stack traces stay inside', () => {
    const { log, lines } = keep()
    fail(log)
    const shown = JSON.stringify(lines())
    for (const name of ['db-primary', '5432', '/etc', 'log.test.ts', '    at ']) {
      assert.ok(!shown.includes(name), shown)
    }
    assert.ok(shown.includes('"type":"DriverError"'), 'what kind of error it was is kept')
  })

  test('an operator can ask for them', () => {
    const { log, lines } = keep({ showInside: true })
    fail(log)
    const shown = JSON.stringify(lines())
    for (const name of ['db-primary-1:5432', '/etc/chimera', 'log.test.ts']) {
      assert.ok(shown.includes(name), shown)
    }
  })
})

test('L2 a long line is cut after the guard, and keeps its ids and the head of its message', () => {
  const { log, lines } = keep()
  const long = `${'x '.repeat(8_000)}${token}${' y'.repeat(8_000)}`
  correlated(log, 'c-1' as CorrelationId).warn({ long, list: [long], few: 1 }, `big: ${long}`)
  const [line] = lines()
  assert.equal(line?.correlation_id, 'c-1')
  assert.equal(line?.level, 'warn')
  assert.equal(line?.few, 1)
  assert.ok(String(line?.msg).startsWith('big: x x'))
  assert.ok(Number(line?.cut_chars) > 60_000)
  assert.ok(JSON.stringify(line).length < 16_384)
})

test('L1 a real process writes guarded lines to its standard output', () => {
  const program = `
    import { createLog } from '@chimera/host/log'
    import { createClock } from '@chimera/host/clock'
    const log = createLog({ clock: createClock(), name: 'hub' })
    log.child({ caller: process.env.PLANTED }).error(new Error(process.env.PLANTED), 'failed')
  `
  const output = execFileSync(
    process.execPath,
    ['--import', 'tsx', '--conditions=chimera-source', '--input-type=module', '-e', program],
    { env: { ...process.env, PLANTED: token }, encoding: 'utf8', cwd: import.meta.dirname },
  )
  const line: Line = JSON.parse(output)
  assert.equal(line.msg, 'failed')
  assert.equal(line.caller, '[secret removed]')
  assert.ok(!output.includes(random), output)
})
