/**
 * The last look at a message before it leaves: it must match its published schema, our
 * own words in it must name nothing of the inside, and nothing at all in it may be a secret.
 *
 *   O1  Our own words are blackened and the message goes: a note with a hole is better than
 *       silence.
 *   O2  A secret anywhere else stops the message: payload is not ours to edit.
 *   O3  Address fields and payload may name hosts and paths; only secrets stop them.
 *   O4  A field whose task is to carry a token is named as such, message by message.
 */
import {
  blacken,
  findInside,
  findSecrets,
  isSecretName,
  type LeakKind,
} from '@chimera/domain/disclosure'
import type { TSchema } from 'typebox'
import { checker, type Malformed } from './check.ts'

export type OutgoingRules = {
  /** Names of the fields that hold our own words, wherever in the message they stand. */
  readonly ownWords?: readonly string[]
  /** Names of the fields whose task is to carry a token. */
  readonly carries?: readonly string[]
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

export function sender<Message>(
  schema: TSchema,
  rules: OutgoingRules = {},
): (message: Message) => Outgoing<Message> {
  const check = checker(schema)
  const ownWords = new Set([...OWN_WORDS, ...(rules.ownWords ?? [])])
  const carries = new Set(rules.carries ?? [])

  return (message) => {
    const finds: { blackened: Find[]; secrets: Find[] } = { blackened: [], secrets: [] }
    const clean = cleanse(message, { path: '', name: '', own: false }, { ownWords, carries, finds })
    if (finds.secrets.length > 0) return { ok: false, because: 'secret', finds: finds.secrets }
    const checked = check(clean)
    if (!checked.ok) return { ok: false, because: 'malformed', refused: checked }
    return { ok: true, message: clean as Message, blackened: finds.blackened }
  }
}

type Place = { readonly path: string; readonly name: string; readonly own: boolean }
type Look = {
  readonly ownWords: ReadonlySet<string>
  readonly carries: ReadonlySet<string>
  readonly finds: { readonly blackened: Find[]; readonly secrets: Find[] }
}

/** The value with our own words blackened; the very same value where nothing was found. */
function cleanse(value: unknown, place: Place, look: Look): unknown {
  if (typeof value === 'string') return cleanseText(value, place, look)
  if (typeof value !== 'object' || value === null) return value

  let copy: Record<string, unknown> | unknown[] | undefined
  for (const [key, member] of Object.entries(value)) {
    // Elements of a list are what the list is.
    const name = Array.isArray(value) ? place.name : key
    const own = Array.isArray(value) ? place.own : look.ownWords.has(key)
    const clean = cleanse(member, { path: `${place.path}/${key}`, name, own }, look)
    if (clean === member) continue
    copy ??= Array.isArray(value) ? [...value] : { ...value }
    Reflect.set(copy, key, clean)
  }
  return copy ?? value
}

function cleanseText(text: string, { path, name, own }: Place, { carries, finds }: Look): string {
  if (carries.has(name)) return text
  const secrets = findSecrets(text)
  if (!own) {
    if (secrets.length > 0 || isSecretName(name)) finds.secrets.push({ path, kind: 'secret' })
    return text
  }
  const leaks = [...secrets, ...findInside(text)]
  if (leaks.length === 0) return text
  for (const { kind } of leaks) finds.blackened.push({ path, kind })
  return blacken(text, leaks)
}
