/**
 * Checks a message against its schema: the same TypeBox object that is published as JSON Schema.
 *
 *   V1  Nothing is changed: no default filled in, no type coerced, no field dropped. What was
 *       signed is what is checked.
 *   V2  A good message costs one quick pass. Only a bad one is looked at again for every complaint.
 *   V3  Formats are strict: see wire.ts for what ajv's own would let through.
 */
import { type Issue, type Refused, refuse } from '@chimera/domain/decision'
import { LIMITS } from '@chimera/domain/limits'
import { Ajv, type ValidateFunction } from 'ajv'
import type { Static, TSchema } from 'typebox'
import { findOutOfBounds } from './bounds.ts'
import { explain } from './explain.ts'
import { isHttpUrl, isUri, isUuid, readCents, readInstant } from './wire.ts'

export type Malformed = Refused<'message_malformed'>
export type Checked<Message> = { readonly ok: true; readonly message: Message } | Malformed
export type Check<Message> = (value: unknown) => Checked<Message>

/** Rules between fields that JSON Schema cannot say. */
export type CrossCheck<Message> = (message: Message) => readonly Issue[]

/** Compiled on first use, so that importing a dialect costs nothing. */
export function checker<Schema extends TSchema>(
  schema: Schema,
  crossCheck?: CrossCheck<Static<Schema>>,
): Check<Static<Schema>> {
  const fits = shapeChecker(schema)

  return (value) => {
    const checked = fits(value)
    if (!checked.ok) return checked
    const outside = findOutOfBounds(value)
    if (outside !== undefined) return malformed([outside])
    const crossed = crossCheck?.(checked.message) ?? []
    return crossed.length > 0 ? malformed(crossed) : checked
  }
}

/** The schema alone, for what we wrote ourselves: our answers may be larger than any message. */
export function shapeChecker<Schema extends TSchema>(schema: Schema): Check<Static<Schema>> {
  let quick: ValidateFunction | undefined
  let thorough: ValidateFunction | undefined

  return (value) => {
    quick ??= compile(schema, false)
    if (quick(value)) return { ok: true, message: value as Static<Schema> }
    thorough ??= compile(schema, true)
    thorough(value)
    return malformed(explain(thorough.errors ?? [], LIMITS.issues))
  }
}

/** A check and a decoder in one: from any value to what it means. */
export function reader<Message, Meaning>(
  check: Check<Message>,
  decode: (message: Message) => Meaning,
): (value: unknown) => { readonly ok: true; readonly value: Meaning } | Malformed {
  return (value) => {
    const checked = check(value)
    return checked.ok ? { ok: true, value: decode(checked.message) } : checked
  }
}

/** For payload and for answers that are shown as they are: the meaning is the message. */
export function asItIs<Message>(check: Check<Message>) {
  return reader(check, (message) => message)
}

function malformed(issues: readonly Issue[]): Malformed {
  return refuse('message_malformed', { issues })
}

function compile(schema: TSchema, allErrors: boolean): ValidateFunction {
  const ajv = new Ajv({
    allErrors,
    verbose: allErrors,
    strict: true,
    strictRequired: false,
    strictTypes: false,
    // Our schemas are checked against draft-07 once, by a test; not again in every process.
    meta: false,
    validateSchema: false,
  })
  ajv.addFormat('uuid', isUuid)
  ajv.addFormat('date-time', (text: string) => readInstant(text) !== undefined)
  ajv.addFormat('uri', isUri)
  ajv.addFormat('http-url', isHttpUrl)
  ajv.addFormat('credits', {
    type: 'number',
    validate: (credits) => readCents(credits) !== undefined,
  })
  return ajv.compile(schema)
}
