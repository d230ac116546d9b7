/**
 * The agent's log on standard error. For programs it is as it is; for people one short line each:
 * what skills say, and of the rest what somebody should know.
 */
import { plain } from '../show.ts'

const QUIET = ['trace', 'debug', 'info']

export function logWriter({ json }: { readonly json: boolean }) {
  let last = ''
  return {
    write(line: string): void {
      const shown = json ? line : lineForPeople(line)
      if (shown === undefined) return
      // A hub that is away is asked again and again, and says nothing new by not answering.
      const words = json ? '' : shown.slice(TIME_CHARS)
      if (words !== '' && words === last) return
      last = words
      process.stderr.write(shown)
    },
  }
}

const TIME_CHARS = '12:34:56'.length

export function lineForPeople(line: string): string | undefined {
  const entry = parse(line)
  if (entry === undefined) return line
  const { level, time, msg, skill, fields, err, why } = entry
  if (skill === undefined && QUIET.includes(String(level))) return undefined
  const words = [
    clockTime(Date.parse(String(time))),
    String(level).padEnd(8),
    ...[skill, msg, why].filter((word) => typeof word === 'string'),
    ...(isRecord(fields) && Object.keys(fields).length > 0 ? [JSON.stringify(fields)] : []),
    ...(isRecord(err) && typeof err.message === 'string' ? [err.message] : []),
  ]
  return `${plain(words.join('  '))}\n`
}

/** As a clock on the wall shows it. */
export function clockTime(at: number): string {
  const time = new Date(at)
  if (Number.isNaN(time.getTime())) return '--:--:--'
  const parts = [time.getHours(), time.getMinutes(), time.getSeconds()]
  return parts.map((part) => String(part).padStart(2, '0')).join(':')
}

function parse(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const entry: unknown = JSON.parse(line)
    return isRecord(entry) ? entry : undefined
  } catch {
    return undefined
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
