/**
 * The log of one request, with its id on each line. It is made when somebody writes to it:
 * nearly no request has anything to say, and a child of the log costs more than many an answer.
 */
import type { Log } from '@chimera/host/log'
import type { FastifyBaseLogger, FastifyServerOptions } from 'fastify'

type Fields = Parameters<Log['child']>[0]
type Line = Parameters<FastifyBaseLogger['info']>

class RequestLog implements FastifyBaseLogger {
  readonly #log: Log
  readonly #fields: Fields
  #own: Log | undefined

  constructor(log: Log, fields: Fields) {
    this.#log = log
    this.#fields = fields
  }

  get level(): string {
    return this.#log.level
  }

  get msgPrefix(): string | undefined {
    return this.#log.msgPrefix
  }

  #write(level: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace', line: Line): void {
    this.#own ??= this.#log.child(this.#fields)
    this.#own[level](...line)
  }

  fatal(...line: Line): void {
    this.#write('fatal', line)
  }
  error(...line: Line): void {
    this.#write('error', line)
  }
  warn(...line: Line): void {
    this.#write('warn', line)
  }
  info(...line: Line): void {
    this.#write('info', line)
  }
  debug(...line: Line): void {
    this.#write('debug', line)
  }
  trace(...line: Line): void {
    this.#write('trace', line)
  }
  silent(): void {}

  child(fields: Fields): Log {
    return this.#log.child({ ...this.#fields, ...fields })
  }
}

export const createRequestLog = (log: Log, fields: Fields): FastifyBaseLogger =>
  new RequestLog(log, fields)

/** For Fastify, which is given no log of its own and then listens to no request's end. */
export const requestLogs =
  (log: Log): NonNullable<FastifyServerOptions['childLoggerFactory']> =>
  (_, fields) =>
    new RequestLog(log, fields)
