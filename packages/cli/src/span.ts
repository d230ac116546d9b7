/** Times as people want them: how long ago, how long still. */
const UNITS: readonly (readonly [name: string, ms: number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
]

/** `90000` → `1m 30s`; the two largest units that say something. */
export function writeSpan(ms: number): string {
  const words: string[] = []
  let left = Math.max(0, Math.round(ms / 1_000)) * 1_000
  for (const [name, unit] of UNITS) {
    const count = Math.floor(left / unit)
    left -= count * unit
    if (count > 0) words.push(`${count}${name}`)
    else if (words.length > 0) break
  }
  return words.slice(0, 2).join(' ') || '0s'
}

/** `in 3m`, or `4s ago`. */
export function writeWhen(at: number, now: number): string {
  return at >= now ? `in ${writeSpan(at - now)}` : `${writeSpan(now - at)} ago`
}
