/**
 * The guard on the way out for our own words: log lines, span notes, metric labels. What
 * counts as a secret or as a name of the inside is decided by the domain's disclosure rules.
 *
 *   G1  Secrets are removed from every string at every depth, from names of fields too, and so is
 *       whatever stands under a name that says it is a secret.
 *   G2  Hosts, paths and traces of the inside are removed as well, but for address fields, and
 *       unless an operator has asked to see them. Secrets are removed in any case.
 *   G3  What was passed in is not changed.
 *   G4  A value that cannot be walked to its end (too deep, a circle) is cut off, not let through.
 */
import { blacken, findInside, findSecrets, isSecretName } from '@chimera/domain/disclosure'
import { LIMITS } from '@chimera/domain/limits'

export type Redaction = {
  /** Leaves hosts, paths and stack traces in: for an operator who looks for a fault. */
  readonly showInside?: boolean
}

const REMOVED = '[secret removed]'
const TRACE = '[trace removed]'
const CUT = '[cut]'

// They name a place on purpose; the requirement exempts them from G2, never from G1.
const ADDRESS_NAME = /(?:^|[_-])(?:url|uri|address|endpoint|origin|listen)$/i

export function redactText(text: string, { showInside = false }: Redaction = {}): string {
  const clean = blackenAll(text, findSecrets)
  return showInside ? clean : blackenAll(clean, findInside)
}

function blackenAll(text: string, find: typeof findSecrets): string {
  const leaks = find(text)
  return leaks.length > 0 ? blacken(text, leaks) : text
}

/** The same for a whole value, as JSON would write it. */
export function redactValue(value: unknown, redaction: Redaction = {}): unknown {
  const texts: string[] = []
  if (gather(value, texts, 0) && isHarmless(texts.join(APART), redaction)) return value
  return redactAt(value, redaction, 0)
}

// Nothing that the rules look for reaches over it.
const APART = '\n\0\n'
// Some rules look no farther ahead than this, so in a longer text they could miss an end.
const MOST_TOGETHER = 8_192

/**
 * Nearly every line is harmless, and one look at all its texts together says so, at a tenth of the
 * time of looking at each.
 */
function isHarmless(together: string, { showInside = false }: Redaction): boolean {
  if (together.length > MOST_TOGETHER || findSecrets(together).length > 0) return false
  return showInside || findInside(together).length === 0
}

/** Every text and name in the value; false when a part of it goes by its name or its depth. */
function gather(value: unknown, texts: string[], depth: number): boolean {
  if (typeof value === 'string') texts.push(value)
  if (typeof value !== 'object' || value === null) return true
  if (depth >= LIMITS.jsonDepth) return false
  if (Array.isArray(value)) return value.every((each) => gather(each, texts, depth + 1))
  return Object.entries(value).every(([name, field]) => {
    texts.push(name)
    return name !== 'stack' && !hidesSecret(name, field) && gather(field, texts, depth + 1)
  })
}

function redactAt(value: unknown, redaction: Redaction, depth: number): unknown {
  if (typeof value === 'string') return redactText(value, redaction)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= LIMITS.jsonDepth) return CUT
  if (Array.isArray(value)) return value.map((each) => redactAt(each, redaction, depth + 1))
  const clean: [string, unknown][] = []
  for (const [name, field] of Object.entries(value)) {
    clean.push([
      blackenAll(name, findSecrets),
      hidesSecret(name, field) ? REMOVED : redactField(name, field, redaction, depth + 1),
    ])
  }
  return Object.fromEntries(clean)
}

function redactField(name: string, field: unknown, redaction: Redaction, depth: number): unknown {
  if (redaction.showInside) return redactAt(field, redaction, depth)
  if (name === 'stack') return TRACE
  const address = typeof field === 'string' && ADDRESS_NAME.test(snake(name))
  return redactAt(field, address ? { showInside: true } : redaction, depth)
}

/** A yes or no, or nothing at all, under such a name says only whether there is a secret. */
function hidesSecret(name: string, field: unknown): boolean {
  if (field === null || field === undefined || typeof field === 'boolean') return false
  // Header names are written with hyphens, and the rules know `api_key`.
  return isSecretName(name.replaceAll('-', '_'))
}

const snake = (name: string): string => name.replace(/([a-z])([A-Z])/g, '$1_$2')
