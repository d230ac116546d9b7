/**
 * Spans around work, through the interface of OpenTelemetry. Without an SDK in the process every
 * span is a silent one, and the ids are still handed on: work always has a trace to pass along.
 *
 *   S1  A span ends when its work ends, and says when it failed.
 *   S2  Each carries the correlation id that the log lines and facts of the same work carry.
 *   S3  What a span says about an error has passed the guard.
 */
import type { CorrelationId } from '@chimera/domain/ids'
import {
  type Attributes,
  type Context,
  context,
  isSpanContextValid,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import type { Chance } from './chance.ts'
import { redactText } from './redact.ts'
import { beginTrace, type TraceParent } from './traceparent.ts'

export type SpanOptions = {
  readonly correlation: CorrelationId
  /** Where the work came from, if it came by a message; else the active span, else a new trace. */
  readonly parent?: TraceParent
  readonly kind?: 'inside' | 'serving' | 'asking' | 'publishing' | 'consuming'
  readonly attributes?: Attributes
}

export type Tracing = {
  /** Runs the work inside a span, and answers with what it answers. */
  readonly span: <T>(
    name: string,
    options: SpanOptions,
    work: (here: TraceParent) => Promise<T>,
  ) => Promise<T>
}

export const CORRELATION_ATTRIBUTE = 'chimera.correlation_id'

const KINDS = {
  inside: SpanKind.INTERNAL,
  serving: SpanKind.SERVER,
  asking: SpanKind.CLIENT,
  publishing: SpanKind.PRODUCER,
  consuming: SpanKind.CONSUMER,
} as const

export type TracingOptions = {
  readonly chance: Chance
  /** That of the process's SDK, if there is one, unless another is handed in. */
  readonly tracer?: Tracer
}

export function createTracing(options: TracingOptions): Tracing {
  const { chance, tracer = trace.getTracer('chimera') } = options
  return {
    span: (name, { correlation, parent, kind = 'inside', attributes = {} }, work) => {
      const active = context.active()
      const begun = trace.getSpanContext(active) ? undefined : beginTrace(correlation, chance)
      const around = continued(active, parent ?? begun)
      const span = tracer.startSpan(
        name,
        { kind: KINDS[kind], attributes: { ...attributes, [CORRELATION_ATTRIBUTE]: correlation } },
        around,
      )
      return context.with(trace.setSpan(around, span), () => watched(span, work))
    },
  }
}

async function watched<T>(span: Span, work: (here: TraceParent) => Promise<T>): Promise<T> {
  try {
    return await work(parentOf(span))
  } catch (error) {
    // `recordException` would keep the stack, which names files of the inside.
    const message = redactText(error instanceof Error ? error.message : String(error))
    span.setStatus({ code: SpanStatusCode.ERROR, message })
    throw error
  } finally {
    span.end()
  }
}

function continued(around: Context, parent: TraceParent | undefined): Context {
  if (!parent) return around
  const { traceId, spanId, sampled } = parent
  const traceFlags = sampled ? TraceFlags.SAMPLED : TraceFlags.NONE
  return trace.setSpanContext(around, { traceId, spanId, traceFlags, isRemote: true })
}

function parentOf(span: Span): TraceParent {
  const { traceId, spanId, traceFlags } = span.spanContext()
  return { traceId, spanId, sampled: (traceFlags & TraceFlags.SAMPLED) !== 0 }
}

/** The ids of the span that is active, for log lines; nothing when there is none. */
export function activeTrace(): { readonly trace_id?: string; readonly span_id?: string } {
  const here = trace.getActiveSpan()?.spanContext()
  if (!here || !isSpanContextValid(here)) return {}
  return { trace_id: here.traceId, span_id: here.spanId }
}
