/**
 * What must not leave: secrets in anything, and in our own words also the names of the inside
 * (hosts, paths, traces) and of people (X-5, SF-2). Only the finding is here; who is stopped or
 * blackened by it is decided where messages and log lines are written.
 *
 *   S1  Every pattern has bounded repetition and runs in time linear in the text.
 *   S2  A find names its kind and place, never the text itself.
 *   S3  Blackening leaves no part of a find behind, and finds nothing more when run again.
 *   S4  A quick look comes first. It may be wrong about a harmless text, never about a leak: each
 *       pattern has something in it that the quick look knows.
 */
export type LeakKind = 'secret' | 'host' | 'path' | 'trace' | 'person'
export type Leak = { readonly kind: LeakKind; readonly from: number; readonly to: number }

const SECRETS: readonly RegExp[] = [
  /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\s\S]{0,8192}?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|$)/g,
  // The private member of an Ed25519, EC or RSA key in JWK form.
  /"d"\s{0,4}:\s{0,4}"[A-Za-z0-9_-]{32,1024}"?/g,
  // Three base64url parts, the first of which begins a JSON object.
  /\beyJ[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]{8,8192}\.[A-Za-z0-9_-]{8,4096}/g,
  // Our own owner and operator tokens carry this prefix so that they can be found here.
  /\bchm_[A-Za-z0-9_-]{16,256}/g,
  // Keys that providers mark with a prefix of theirs.
  /\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,256}/g,
  /\b(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,256}/g,
  /\bAKIA[A-Z0-9]{16}\b/g,
  /\bAIza[A-Za-z0-9_-]{30,64}/g,
  /\b(?:ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9]{20,256}/g,
  /\bgithub_pat_[A-Za-z0-9_]{20,256}/g,
  /\bglpat-[A-Za-z0-9_-]{16,256}/g,
  /\bxox[abeprs]-[A-Za-z0-9-]{10,256}/g,
  /\bnpm_[A-Za-z0-9]{30,256}/g,
  /\b(?:bearer|basic)\s{1,4}(?=[^\s]{0,64}\d)[A-Za-z0-9._~+/=-]{16,8192}/gi,
  // Name and password inside an address.
  /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@]{0,256}:[^\s/@]{1,256}@/gi,
  // A telling name with a value that mixes letters and digits, as chosen words rarely do.
  /\b(?:password|passwd|pwd|secret|api[_-]?key|access[_-]?key|private[_-]?key|client[_-]?secret|auth[_-]?token|token)\b["']?\s{0,4}[=:]\s{0,4}["']?(?=[^\s"',;]{0,128}\d)(?=[^\s"',;]{0,128}[A-Za-z])[^\s"',;]{8,8192}/gi,
]

/**
 * S4: what no secret is without, in one pass; nearly every text ends here. Letters stand in both
 * cases where their pattern has it so: the flag for all of it would take twice the time.
 */
const SECRET_MARK =
  /eyJ|AKIA|AIza|-BEGIN |"d"|(?:chm|[spr]k|gh[poushr]|_pat|npm)_|(?:[spr]k|pat|xox[a-z])-|[aA][rR][eE][rR]\s|[aA][sS][iI][cC]\s|[^\s/]@|(?:[wWrR][dD]|[eE][tTyYnN])["']?\s{0,4}[=:]/
// The shortest that any pattern takes: an address with a password of one character.
const SHORTEST_SECRET = 8

const HOSTS: readonly RegExp[] = [
  /\blocalhost(?::\d{1,5})?\b/gi,
  // Loopback, private, link-local and carrier-grade ranges.
  /(?<![\d.])(?:(?:127|10|0)\.\d{1,3}|192\.168|169\.254|172\.(?:1[6-9]|2\d|3[01])|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\.\d{1,3}\.\d{1,3}(?::\d{1,5})?(?!\d)/g,
  /(?<![0-9a-f:])(?:::1|f[cd][0-9a-f]{2}:[0-9a-f:]{2,40}|fe80:[0-9a-f:]{2,40})(?![0-9a-f:])/gi,
  /\b(?:[a-z0-9-]{1,63}\.){1,8}(?:local|localdomain|internal|intranet|lan|corp|home\.arpa|svc)\b(?::\d{1,5})?/gi,
  // An address whose host has no dot is a name that only the inside resolves.
  /\b[a-z][a-z0-9+.-]{1,20}:\/\/[a-z0-9_-]{1,63}(?=[:/\s"')]|$)(?::\d{1,5})?/gi,
  // A bare machine name with its port, as errors of drivers print it.
  /\b[a-z][a-z0-9]{0,62}(?:-[a-z0-9]{1,62}){1,4}:\d{2,5}\b/gi,
  /\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EHOSTUNREACH)\s{1,4}[^\s,;]{1,255}/g,
]

const PATHS: readonly RegExp[] = [
  /(?<![\w./:-])\/(?:home|root|usr|var|etc|tmp|opt|srv|app|mnt|media|proc|sys|dev|run|work|workspace|Users|Library|private|Volumes|data)\/[^\s"'<>|:]{1,1024}/g,
  /\bfile:\/\/[^\s"'<>]{1,1024}/gi,
  /(?<![A-Za-z])[A-Za-z]:\\[^\s"'<>|]{1,1024}/g,
  /\\\\[A-Za-z0-9._-]{1,255}\\[^\s"'<>|]{1,1024}/g,
  /(?<![\w./-])(?:\.{1,2}\/)?(?:[\w@.-]{1,128}\/){0,16}node_modules\/[^\s"'<>|:]{1,1024}/g,
]

const TRACES: readonly RegExp[] = [
  /^[ \t]{0,16}at [^\n]{1,1024}:\d{1,7}:\d{1,7}\)?$/gm,
  /^[ \t]{0,16}at (?:async )?[\w.<>[\] ]{1,256} \([^\n)]{1,1024}\)$/gm,
  /\bTraceback \(most recent call last\)/g,
  /^[ \t]{0,16}File "[^"\n]{1,1024}", line \d{1,7}/gm,
  /\bnode:internal\/[^\s)]{1,256}/g,
]

/** S4, for hosts, paths and traces. */
const INSIDE_MARK =
  /:[/\\\d]|::|(?<![0-9a-fA-F])[fF][cdeCDE][0-9a-fA-F]{2}:|node:|\\|\/[a-zA-Z]{2,9}\/|\d\.\d{1,3}\.\d|[lL][oO][cC][aA][lL][hH]|\.[lLiIcChHsS][a-zA-Z]{2}|E[A-Z_]{8,11}\s|node_modules|Traceback|(?:^|\n)[ \t]{0,16}(?:at|File) /

const PEOPLE: readonly RegExp[] = [
  /[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,4}\.[A-Za-z]{2,24}\b/g,
  // International telephone numbers: a plus and nine or more digits in groups.
  /(?<![\w+])\+\d{1,3}(?:[ .()-]{0,2}\d){8,14}(?!\d)/g,
  // Payment cards: sixteen digits in fours.
  /(?<!\d)\d{4}(?:[ -]?\d{4}){3}(?!\d)/g,
]

const SECRET_NAME =
  /^(?:.{0,64}[_-])?(?:password|passwd|pwd|pass_?phrase|secret|(?:api|access|private|secret|signing)_?key|client_?secret|auth(?:orization)?|credentials?|cookie|token|jwt|mnemonic|seed_?phrase)$/i

const NONE: readonly Leak[] = []

/** Credentials, private keys and tokens. Nothing is exempt from this, payload included. */
export function findSecrets(text: string): readonly Leak[] {
  return mayHoldSecret(text) ? find(text, 'secret', SECRETS) : NONE
}

/** False only where `findSecrets` would find nothing (S4). */
export function mayHoldSecret(text: string): boolean {
  return text.length >= SHORTEST_SECRET && SECRET_MARK.test(text)
}

/** Hosts, paths and traces of the inside; for our own words, not for payload or address fields. */
export function findInside(text: string): readonly Leak[] {
  if (!mayNameInside(text)) return NONE
  return merge([
    ...find(text, 'host', HOSTS),
    ...find(text, 'path', PATHS),
    ...find(text, 'trace', TRACES),
  ])
}

/** False only where `findInside` would find nothing (S4). */
export function mayNameInside(text: string): boolean {
  return INSIDE_MARK.test(text)
}

/** Personal data, which the status feed forbids in its notes. */
export function findPeople(text: string): readonly Leak[] {
  return find(text, 'person', PEOPLE)
}

/** Whether a field of this name holds a secret, whatever its value looks like. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name.replace(/([a-z])([A-Z])/g, '$1_$2').replaceAll('-', '_'))
}

/** The text with every find replaced by its kind in brackets (S3). */
export function blacken(text: string, leaks: readonly Leak[]): string {
  let rest = 0
  let clean = ''
  for (const { kind, from, to } of merge(leaks)) {
    clean += `${text.slice(rest, from)}[${kind} removed]`
    rest = to
  }
  return clean + text.slice(rest)
}

function find(text: string, kind: LeakKind, patterns: readonly RegExp[]): readonly Leak[] {
  const leaks: Leak[] = []
  for (const pattern of patterns) {
    for (const match of text.matchAll(pattern)) {
      leaks.push({ kind, from: match.index, to: match.index + match[0].length })
    }
  }
  return merge(leaks)
}

/** In order of place, without overlaps; where two overlap the first keeps its kind. */
function merge(leaks: readonly Leak[]): readonly Leak[] {
  const sorted = [...leaks].sort((one, other) => one.from - other.from || other.to - one.to)
  const merged: Leak[] = []
  for (const leak of sorted) {
    const last = merged.at(-1)
    if (last === undefined || leak.from >= last.to) merged.push(leak)
    else if (leak.to > last.to) merged[merged.length - 1] = { ...last, to: leak.to }
  }
  return merged
}

/** Our own words as they may be shown: without secrets and without names of the inside. */
export function clearWords(text: string): string {
  if (!mayHoldSecret(text) && !mayNameInside(text)) return text
  return blacken(text, [...findSecrets(text), ...findInside(text)])
}
