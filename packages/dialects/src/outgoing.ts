/**
 * The last look at a message before it leaves: it must match its published schema, our
 * own words in it must name nothing of the inside, and nothing at all in it may be a secret.
 *
 *   O1  Our own words are blackened and the message goes: a note with a hole is better than
 *       silence.
 *   O2  A secret elsewhere stops a message that hands on what others wrote: that is not ours to
 *       edit. In an answer that we put together ourselves it is blackened too, or one bad entry
 *       would close a whole list.
 *   O3  Address fields and payload may name hosts and paths; only secrets stop them.
 *   O4  A field whose task is to carry a token is named as such, message by message.
 *   O5  Keys, signatures and digests are chance: some would look like a secret by it. They pass
 *       under their names, where they have their form.
 *   O6  A fact says by whom it came about, and a token is named there by its id, which is no
 *       secret. With a hole in it the fact would no longer be what was sealed.
 *   O7  Nearly every message is harmless, and one quick pass without a copy says so.
 */
import {
  blacken,
  findInside,
  findSecrets,
  isSecretName,
  type LeakKind,
  mayHoldSecret,
  mayNameInside,
} from '@chimera/domain/disclosure'
import { LIMITS } from '@chimera/domain/limits'
import type { TSchema } from 'typebox'
import { type Malformed, shapeChecker } from './check.ts'

export type OutgoingRules = {
  /** Names of the fields that hold our own words, wherever in the message they stand. */
  readonly ownWords?: readonly string[]
  /** Names of the fields whose task is to carry a token. */
  readonly carries?: readonly string[]
  /** What a secret outside our own words does (O2); `stop` unless told. */
  readonly found?: 'stop' | 'blacken'
}

/** Where something was found, and what kind of thing; never the thing itself. */
export type Find = { readonly path: string; readonly kind: LeakKind }

export type Outgoing<Message> =
  | { readonly ok: true; readonly message: Message; readonly blackened: readonly Find[] }
  | { readonly ok: false; readonly because: 'malformed'; readonly refused: Malformed }
  | { readonly ok: false; readonly because: 'secret'; readonly finds: readonly Find[] }

/** The fields that hold our words in every dialect. */
const OWN_WORDS = [
  'message',
  'notes',
  'reason',
  'error_message',
  'maintenance_reason',
  'why',
  'expected',
  'got',
]

// No message may nest so deep (limits.ts), not even inside an answer that lists it.
const DEEPEST = 2 * LIMITS.jsonDepth
/** Names of members come from strangers too, in their schemas; so many are remembered. */
const MOST_NAMES = 1_000
/** And so many texts, which is a megabyte for each kind of message at most. */
const MOST_TEXTS = 4_096
const MOST_CHARS = 128
const REMOVED = '[secret removed]'

export function sender<Message>(
  schema: TSchema,
  rules: OutgoingRules = {},
): (message: Message) => Outgoing<Message> {
  const check = shapeChecker(schema)
  const look = lookOf(rules, new Set([...OWN_WORDS, ...(rules.ownWords ?? [])]))

  return (message) => {
    const looked = isHarmless(message, NOWHERE, look, 0) ? HARMLESS : cleanse(message, look)
    const { secrets: finds, blackened } = looked
    if (finds.length > 0) return { ok: false, because: 'secret', finds }
    const clean = blackened.length > 0 ? (looked.value as Message) : message
    const checked = check(clean)
    if (!checked.ok) return { ok: false, because: 'malformed', refused: checked }
    return { ok: true, message: clean, blackened }
  }
}

/**
 * What would be stopped on its way out, for whoever takes something in that is to be shown to
 * others: better refused at the door. `takes` names the fields whose task is to bring a secret.
 */
export function secretFinder(takes: readonly string[] = []): (message: unknown) => readonly Find[] {
  const look = lookOf({ carries: takes }, new Set())
  return (message) =>
    isHarmless(message, NOWHERE, look, 0) ? NO_FINDS : cleanse(message, look).secrets
}

type Look = {
  readonly blackens: boolean
  /** Surely without a secret; our own words also without a name of the inside. */
  readonly isPlain: (text: string, own: boolean) => boolean
  readonly placeOf: (name: string) => Place
}

const NO_FINDS: readonly Find[] = []

/** A name, and what it makes of whatever stands under it. */
type Place = {
  readonly name: string
  readonly own: boolean
  readonly carries: boolean
  /** It tells that a secret stands under it. */
  readonly telling: boolean
  /** It may be one itself. */
  readonly suspect: boolean
}
const NOWHERE: Place = { name: '', own: false, carries: false, telling: false, suspect: false }

function lookOf({ carries = [], found = 'stop' }: OutgoingRules, own: ReadonlySet<string>): Look {
  const carriers = new Set(carries)
  const known = new Map<string, Place>()
  const blackens = found === 'blacken'
  // What others wrote is handed on once; remembering it costs more than looking.
  const kept = blackens ? remembering : asItIs
  const isPlainText = kept((text) => !mayHoldSecret(text))
  const isPlainWord = kept((text) => !mayHoldSecret(text) && !mayNameInside(text))
  return {
    blackens,
    isPlain: (text, own) => (own ? isPlainWord(text) : isPlainText(text)),
    placeOf(name) {
      const before = known.get(name)
      if (before !== undefined) return before
      const place = {
        name,
        own: own.has(name),
        carries: carriers.has(name),
        telling: isSecretName(name),
        suspect: mayHoldSecret(name),
      }
      if (known.size < MOST_NAMES) known.set(name, place)
      return place
    },
  }
}

/** O7. False also for some that the thorough look finds nothing in. */
function isHarmless(value: unknown, place: Place, look: Look, depth: number): boolean {
  if (typeof value === 'string') {
    return place.carries || (!place.telling && look.isPlain(value, place.own))
  }
  if (typeof value !== 'object' || value === null) return true
  if (depth > DEEPEST) return false
  if (Array.isArray(value)) {
    // Elements of a list are what the list is.
    for (const each of value) if (!isHarmless(each, place, look, depth + 1)) return false
    return true
  }
  const members = value as Readonly<Record<string, unknown>>
  // Without a list of the names, which would be made for every object of every answer.
  for (const name in members) {
    const under = look.placeOf(name)
    if (under.suspect || !isHarmless(members[name], under, look, depth + 1)) return false
  }
  return true
}

const asItIs = (isPlain: (text: string) => boolean) => isPlain

/** Lists say the same again and again; what was found plain is not looked through twice. */
function remembering(isPlain: (text: string) => boolean): (text: string) => boolean {
  const plain = new Set<string>()
  return (text) => {
    if (plain.has(text)) return true
    if (!isPlain(text)) return false
    if (plain.size >= MOST_TEXTS) plain.clear()
    if (text.length <= MOST_CHARS) plain.add(text)
    return true
  }
}

type Cleansed = {
  readonly value: unknown
  readonly blackened: readonly Find[]
  readonly secrets: readonly Find[]
}

const HARMLESS: Cleansed = { value: undefined, blackened: NO_FINDS, secrets: NO_FINDS }

/** The value with what must not leave blackened, or with what stops it named. */
function cleanse(message: unknown, look: Look): Cleansed {
  const blackened: Find[] = []
  const secrets: Find[] = []
  const foreign = look.blackens ? blackened : secrets

  function within(value: unknown, path: string, place: Place, depth: number): unknown {
    if (typeof value === 'string') return text(value, path, place)
    if (typeof value !== 'object' || value === null) return value
    if (depth > DEEPEST) {
      // What nobody looks into does not leave.
      foreign.push({ path, kind: 'secret' })
      return REMOVED
    }
    if (Array.isArray(value)) {
      return value.map((each, index) => within(each, `${path}/${index}`, place, depth + 1))
    }
    const members = Object.entries(value).map(([name, member]): [string, unknown] => {
      // A name that holds a secret is not repeated, not even as a place.
      const shown = clear(name, path)
      return [shown, within(member, `${path}/${shown}`, look.placeOf(name), depth + 1)]
    })
    return Object.fromEntries(members)
  }

  function clear(name: string, path: string): string {
    const leaks = findSecrets(name)
    if (leaks.length === 0) return name
    foreign.push({ path, kind: 'secret' })
    return blacken(name, leaks)
  }

  function text(value: string, path: string, { name, own, carries, telling }: Place): string {
    if (carries || isPublicBytes(name, value) || isCaller(name, value)) return value
    const found = findSecrets(value)
    if (own) {
      const leaks = [...found, ...findInside(value)]
      for (const { kind } of leaks) blackened.push({ path, kind })
      return leaks.length === 0 ? value : blacken(value, leaks)
    }
    if (found.length === 0 && !telling) return value
    foreign.push({ path, kind: 'secret' })
    return telling ? REMOVED : blacken(value, found)
  }

  return { value: within(message, '', NOWHERE, 0), blackened, secrets }
}

const PUBLIC_NAME = /(?:^|_)(?:public_key|key_id|kid|signature|thumbprint|hash|digest)$/
/** 32 or 64 bytes, in either spelling of base64. */
const PUBLIC_BYTES = /^(?:[A-Za-z0-9+/_-]{43}=?|[A-Za-z0-9+/_-]{86}(?:==)?)$/

const CALLER_NAME = /^token:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/

/** O6. */
const isCaller = (name: string, text: string): boolean => name === 'by' && CALLER_NAME.test(text)

function isPublicBytes(name: string, text: string): boolean {
  return PUBLIC_NAME.test(name) && PUBLIC_BYTES.test(text) && !text.startsWith('chm_')
}
