/** A tracer that remembers stands in for an SDK; without one the silent one runs. */
import assert from 'node:assert/strict'
import type { CorrelationId } from '@chimera/domain/ids'
import {
  type Context,
  type Span,
  type SpanContext,
  type SpanOptions,
  type SpanStatus,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { describe, test } from 'vitest'
import { createSeededChance } from './chance.ts'
import type { TraceParent } from './traceparent.ts'
import { activeTrace, CORRELATION_ATTRIBUTE, createTracing } from './traces.ts'

const correlation = 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6' as CorrelationId
const traceId = 'f81d4fae7dec11d0a76500a0c91e6bf6'
const chance = createSeededChance(1)
const parent: TraceParent = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), sampled: true }

type Recorded = {
  readonly name: string
  readonly options: SpanOptions
  readonly parent: SpanContext | undefined
  status?: SpanStatus
  ended: number
}

function remember(): { tracer: Tracer; spans: Recorded[] } {
  const spans: Recorded[] = []
  const tracer: Tracer = {
    startSpan: (name, options = {}, around?: Context) => {
      const from = around && trace.getSpanContext(around)
      const spanId = `${spans.length + 1}`.padStart(16, '0')
      const recorded: Recorded = { name, options, parent: from, ended: 0 }
      spans.push(recorded)
      const span: Span = {
        spanContext: () => ({ traceId: from?.traceId ?? '', spanId, traceFlags: 1 }),
        setAttribute: () => span,
        setAttributes: () => span,
        addEvent: () => span,
        addLink: () => span,
        addLinks: () => span,
        setStatus: (status) => {
          recorded.status = status
          return span
        },
        updateName: () => span,
        end: () => {
          recorded.ended += 1
        },
        isRecording: () => true,
        recordException: () => assert.fail('the stack would be kept'),
      }
      return span
    },
    startActiveSpan: () => assert.fail('not used'),
  }
  return { tracer, spans }
}

describe('S1 a span', () => {
  test('ends when its work ends, and hands on the answer', async () => {
    const { tracer, spans } = remember()
    let endedInside = -1
    const answer = await createTracing({ chance, tracer }).span(
      'transfer',
      { correlation, kind: 'serving', attributes: { dialect: 'chorus' } },
      async () => {
        endedInside = spans[0]?.ended ?? -1
        return 5
      },
    )
    assert.deepEqual([answer, endedInside, spans[0]?.ended], [5, 0, 1])
    assert.equal(spans[0]?.status, undefined)
    assert.equal(spans[0]?.name, 'transfer')
    assert.deepEqual(spans[0]?.options, {
      kind: 1,
      attributes: { dialect: 'chorus', [CORRELATION_ATTRIBUTE]: correlation },
    })
  })

  test('X-5 S3 of work that fails says so, guarded, and the error goes on', async () => {
    const { tracer, spans } = remember()
    const secret = `chm_${'a1B2c3D4e5F6g7H8'}`
    const work = createTracing({ chance, tracer }).span('x', { correlation }, async () => {
      throw new Error(`no ${secret} for 10.1.2.3`)
    })
    await assert.rejects(work, { message: `no ${secret} for 10.1.2.3` })
    assert.deepEqual(spans[0]?.status, {
      code: SpanStatusCode.ERROR,
      message: 'no [secret removed] for [host removed]',
    })
    assert.equal(spans[0]?.ended, 1)
  })
})

describe('X-4 the correlation id and the trace', () => {
  test('a message’s trace goes on, and the span carries its correlation id', async () => {
    const { tracer, spans } = remember()
    const here = await createTracing({ chance, tracer }).span(
      'x',
      { correlation, parent },
      async (own) => own,
    )
    assert.equal(spans[0]?.parent?.spanId, parent.spanId)
    assert.equal(spans[0]?.options.attributes?.[CORRELATION_ATTRIBUTE], correlation)
    assert.deepEqual(here, { traceId: parent.traceId, spanId: `${'0'.repeat(15)}1`, sampled: true })
  })

  test('without a parent the trace begins with the correlation id', async () => {
    const { tracer } = remember()
    const here = await createTracing({ chance, tracer }).span(
      'x',
      { correlation },
      async (own) => own,
    )
    assert.equal(here.traceId, traceId)
  })

  test('without an SDK there is still a trace to hand on', async () => {
    const tracing = createTracing({ chance })
    const begun = await tracing.span('x', { correlation }, async (own) => own)
    assert.equal(begun.traceId, traceId)
    const passed = await tracing.span('x', { correlation, parent }, async (own) => own)
    assert.deepEqual(passed, parent)
  })

  test('outside any span log lines get no trace', () => {
    assert.deepEqual(activeTrace(), {})
  })
})
