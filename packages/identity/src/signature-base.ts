/**
 * The text that an HTTP message signature is made over (RFC 9421, section 2.5), and the two header
 * fields that carry signatures.
 *
 *   M1  One line for each covered component, then the signature's own parameters.
 *   M2  A component that is missing, named twice, or of a kind not spoken here makes no base:
 *       better no signature than one over less than was meant. Spoken are fields, also with `key`
 *       or `bs`, the derived components, and `@query-param` with `name`. Not spoken are `sf`, whose
 *       result depends on what a reader knows of the field, `req` and `tr`.
 */
import {
  type BareItem,
  type InnerList,
  isInnerList,
  parseDictionary,
  serializeByteSequence,
  serializeInnerList,
  serializeItem,
} from 'structured-headers'
import { SIGNATURE_BYTES } from './ed25519.ts'
import {
  derivedValue,
  fieldLines,
  fieldValue,
  type HttpMessage,
  queryParameter,
} from './http-message.ts'

/** One signature of a message: its label, what it covers with its parameters, and its bytes. */
export type CarriedSignature = {
  readonly label: string
  readonly input: InnerList
  readonly signature: Uint8Array
}

// A request has a dozen parts worth covering; a longer list is there to cost us time.
const MOST_COMPONENTS = 32
// A value is one line of visible ASCII; anything else could draw lines of its own into the base.
const LINE = /^[\x20-\x7e\t]*$/
const FIELD_NAME = /^[a-z0-9!#$%&'*+.^_`|~-]+$/

export function signatureBase(message: HttpMessage, input: InnerList): string | undefined {
  const [components] = input
  if (components.length > MOST_COMPONENTS) return undefined
  const lines: string[] = []
  const named = new Set<string>()
  for (const [name, parameters] of components) {
    if (typeof name !== 'string') return undefined
    const value = componentValue(message, name, parameters)
    const identifier = attempt(() => serializeItem([name, parameters]))
    if (identifier === undefined || named.has(identifier)) return undefined
    if (value === undefined || !LINE.test(value)) return undefined
    named.add(identifier)
    lines.push(`${identifier}: ${value}`)
  }
  const own = attempt(() => serializeInnerList(input))
  return own === undefined ? undefined : [...lines, `"@signature-params": ${own}`].join('\n')
}

/** The signatures that a message carries, in order; none of a field that is malformed. */
export function carriedSignatures({ headers }: HttpMessage): readonly CarriedSignature[] {
  const inputs = readDictionary(fieldValue(headers, 'signature-input'))
  const signatures = readDictionary(fieldValue(headers, 'signature'))
  const carried: CarriedSignature[] = []
  for (const [label, input] of inputs) {
    const value: unknown = signatures.get(label)?.[0]
    if (!isInnerList(input) || !(value instanceof ArrayBuffer)) continue
    if (value.byteLength !== SIGNATURE_BYTES) continue
    carried.push({ label, input, signature: new Uint8Array(value) })
  }
  return carried
}

function componentValue(
  message: HttpMessage,
  name: string,
  parameters: ReadonlyMap<string, BareItem>,
): string | undefined {
  const [first, ...others] = parameters
  if (others.length > 0) return undefined
  if (name.startsWith('@')) {
    if (first === undefined) return derivedValue(message, name)
    const [parameter, value] = first
    if (name !== '@query-param' || parameter !== 'name') return undefined
    return typeof value === 'string' ? queryParameter(message, value) : undefined
  }
  if (!FIELD_NAME.test(name)) return undefined
  if (first === undefined) return fieldValue(message.headers, name)
  const [parameter, value] = first
  if (parameter === 'bs' && value === true) return wrapped(message, name)
  if (parameter === 'key' && typeof value === 'string') return member(message, name, value)
  return undefined
}

/** RFC 9421, 2.1.3: each line by itself, safe from whatever commas mean inside it. */
function wrapped({ headers }: HttpMessage, name: string): string | undefined {
  const lines = fieldLines(headers, name)
  if (lines.length === 0) return undefined
  return lines.map((line) => serializeByteSequence(Buffer.from(line, 'latin1'))).join(', ')
}

/** RFC 9421, 2.1.2: one member of a field that is a dictionary. */
function member({ headers }: HttpMessage, name: string, key: string): string | undefined {
  const found = readDictionary(fieldValue(headers, name)).get(key)
  if (found === undefined) return undefined
  return attempt(() => (isInnerList(found) ? serializeInnerList(found) : serializeItem(found)))
}

function readDictionary(text: string | undefined): ReturnType<typeof parseDictionary> {
  return (text === undefined ? undefined : attempt(() => parseDictionary(text))) ?? new Map()
}

/** The library throws on what is not a structured field; here that is a value like any other. */
function attempt<Value>(act: () => Value): Value | undefined {
  try {
    return act()
  } catch {
    return undefined
  }
}
