/**
 * A secret that can be passed around without being shown by accident.
 *
 *   S1  Printing, logging, JSON and template strings show that it is one, and nothing of it.
 *   S2  Only `reveal` gives it out, and gives what is valid now: hold on to the secret, not to what
 *       it revealed, and a rotated one is used without a restart (SF-6).
 */
import { inspect } from 'node:util'

export type Secret = {
  readonly reveal: () => string
  readonly toString: () => string
  readonly toJSON: () => string
}

export type KeptSecret = {
  readonly secret: Secret
  /** Whether it is another one than before. */
  readonly replace: (value: string) => boolean
}

const SHOWN = '[secret removed]'

export function keepSecret(first: string): KeptSecret {
  let value = first
  const secret = Object.freeze({
    reveal: () => value,
    toString: () => SHOWN,
    toJSON: () => SHOWN,
    [inspect.custom]: () => SHOWN,
  })
  const replace = (next: string): boolean => {
    const changed = next !== value
    value = next
    return changed
  }
  return { secret, replace }
}
