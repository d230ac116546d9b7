/** Numbers for people. Credits always have two decimals, so that they stand under each other. */
const GROUPED = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 0 })
const CREDITS = new Intl.NumberFormat('en-GB', {
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
})

export const creditText = (credits: number): string => CREDITS.format(credits)
export const countText = (count: number): string => GROUPED.format(count)
export const percentText = (share: number): string => `${Math.round(share * 100)} %`
/** The running score is shown as Chorus does, the window score as OpenClaw does. */
export const runningText = (score: number): string => score.toFixed(2)
export const windowText = (score: number): string => score.toFixed(3)

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const

export function bytesText(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= 1_000 && unit < UNITS.length - 1) {
    value /= 1_000
    unit += 1
  }
  return `${value < 10 && unit > 0 ? value.toFixed(1) : Math.round(value)} ${UNITS[unit] ?? ''}`
}

export function secondsText(seconds: number): string {
  if (!Number.isFinite(seconds)) return '–'
  if (seconds < 0.001) return `${Math.round(seconds * 1_000_000)} µs`
  if (seconds < 1) return `${(seconds * 1_000).toFixed(seconds < 0.01 ? 1 : 0)} ms`
  return `${seconds.toFixed(1)} s`
}
