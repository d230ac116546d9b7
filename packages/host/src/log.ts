/**
 * The log: one JSON object a line, with the correlation id of what it is about, and with
 * nothing in it that must not leave.
 *
 *   L1  Every line passes the guard after it is complete, whatever wrote it: the message, fields,
 *       child fields, errors and what serializers of others made of them. A line that cannot be
 *       read back is withheld.
 *   L2  No line is longer than the limit; of one that is, the message and the ids are kept.
 *   L3  Times come from the clock that is handed in, so that a simulated run logs its own time.
 *
 * It is a pino logger, so that a server can be given it as its own.
 */
import type { CorrelationId } from '@chimera/domain/ids'
import { type DestinationStream, type Level, type Logger, pino } from 'pino'
import type { Clock } from './clock.ts'
import { type Redaction, redactValue } from './redact.ts'
import { activeTrace } from './traces.ts'

export type Log = Logger

export type LogLevel = Level | 'silent'

// biome-ignore format: one line, from the most to the least
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const satisfies readonly LogLevel[]

export type LogOptions = Redaction & {
  readonly clock: Pick<Clock, 'now'>
  /** Which program speaks, such as `hub`. */
  readonly name: string
  readonly level?: LogLevel
  /** Where lines go; standard output unless told, written before the call returns. */
  readonly destination?: DestinationStream
}

/** The field that ties a line to a message; the same word as in traces and facts. */
export const CORRELATION_FIELD = 'correlation_id'

// What common collectors take as one line without splitting it.
const MOST_CHARS = 16_384
const MOST_KEPT_CHARS = 1_024

export function createLog(options: LogOptions): Log {
  const { clock, name, level = 'info', destination = pino.destination(1) } = options
  return pino(
    {
      level,
      // Pino would add the machine's name, which is a name of the inside.
      base: { name },
      timestamp: () => `,"time":"${new Date(clock.now()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      mixin: activeTrace,
      hooks: { streamWrite: (line) => guardLine(line, options) },
    },
    destination,
  )
}

/** A log that puts the id on each of its lines. */
export function correlated(log: Log, correlation: CorrelationId): Log {
  return log.child({ [CORRELATION_FIELD]: correlation })
}

function guardLine(line: string, redaction: Redaction): string {
  const fields = parse(line)
  if (!fields) return `${JSON.stringify({ level: 'error', msg: 'A log line was withheld.' })}\n`
  // Written anew even if nothing was found: of two fields of one name only the last was seen.
  const clean = JSON.stringify(redactValue(fields, redaction))
  return `${clean.length > MOST_CHARS ? shorten(clean) : clean}\n`
}

function parse(line: string): object | undefined {
  try {
    const fields: unknown = JSON.parse(line)
    return typeof fields === 'object' && fields !== null ? fields : undefined
  } catch {
    return undefined
  }
}

/** L2: after the guard, since half a secret is not recognised as one. */
function shorten(clean: string): string {
  const fields = Object.entries(parse(clean) ?? {}).filter(
    ([name, value]) => name === 'msg' || String(value).length <= MOST_KEPT_CHARS,
  )
  const kept: [string, unknown][] = [['cut_chars', clean.length]]
  let chars = 0
  for (const [name, value] of fields) {
    const short = typeof value === 'string' ? value.slice(0, MOST_KEPT_CHARS) : value
    const more = JSON.stringify([name, short]).length
    if (chars + more > MOST_CHARS / 2) continue
    chars += more
    kept.push([name, short])
  }
  return JSON.stringify(Object.fromEntries(kept))
}
