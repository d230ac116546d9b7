/**
 * Text that both engines keep as it is. PostgreSQL has no place for the NUL character, and a
 * surrogate without its partner is no character at all: written as UTF-8, different texts would
 * become the same one, and canonical JSON refuses it.
 */
const UNKEPT = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/

/** The text of a value, or nothing when some of it could not be kept. */
export function storableText(value: unknown): string | undefined {
  const text: string | undefined = JSON.stringify(value)
  return text === undefined || !isKept(text) ? undefined : text
}

/** Whether that can be kept of which JSON made this text. */
export function isKept(json: string): boolean {
  // Hardly any text has an escape of that kind, and looking for its beginning is quick.
  return !json.includes('\\u') || !UNKEPT.test(json)
}

/** JSON writes both kinds as escapes, in lower case, which is what is looked for. */
export function isStorable(value: unknown): boolean {
  return storableText(value) !== undefined
}
