/** Times for people: how long ago, how long, and the exact one for whoever wants it. */
const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Undefined for what is no time. */
export function instantOf(text: string | undefined): number | undefined {
  const at = text === undefined ? Number.NaN : Date.parse(text)
  return Number.isNaN(at) ? undefined : at
}

/** `3 s`, `12 min`, `5 h`, `3 d`: one unit, rounded down, never below zero. */
export function spanText(ms: number): string {
  const span = Math.max(0, ms)
  if (span < MINUTE) return `${Math.floor(span / SECOND)} s`
  if (span < HOUR) return `${Math.floor(span / MINUTE)} min`
  if (span < 2 * DAY) return `${Math.floor(span / HOUR)} h`
  return `${Math.floor(span / DAY)} d`
}

export function agoText(at: number, now: number): string {
  const ms = now - at
  if (ms < -SECOND) return `in ${spanText(-ms)}`
  return ms < SECOND ? 'now' : `${spanText(ms)} ago`
}

/** Local, to the second, with its zone: `2026-11-15 20:45:07 +01:00`. */
export function exactText(at: number): string {
  const date = new Date(at)
  const pad = (value: number) => String(value).padStart(2, '0')
  const day = `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`
  const time = `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`
  const offset = -date.getTimezoneOffset()
  const zone = `${pad(Math.floor(Math.abs(offset) / 60))}:${pad(Math.abs(offset) % 60)}`
  return `${day} ${time} ${offset < 0 ? '-' : '+'}${zone}`
}

/** Of one day: `20:45:07.123`. */
export function clockText(at: number): string {
  const date = new Date(at)
  const pad = (value: number, digits = 2) => String(value).padStart(digits, '0')
  const time = `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`
  return `${time}.${pad(date.getMilliseconds(), 3)}`
}
