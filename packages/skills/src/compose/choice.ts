/**
 * Choices that look free and are not: the same seed chooses the same, in the same order. So the
 * same trend and persona get the same text, and another trend gets another one.
 */
import { createHash } from 'node:crypto'

export type Choice = {
  /** One of them; of none, nothing. */
  readonly of: <Each>(all: readonly [Each, ...Each[]]) => Each
  /** As many of them as asked for, each once, in another order. */
  readonly some: <Each>(all: readonly Each[], count: number) => readonly Each[]
}

export function createChoice(...seed: readonly string[]): Choice {
  let drawn = 0

  /** Below the bound, evenly enough for words. */
  function draw(bound: number): number {
    drawn += 1
    const bytes = createHash('sha256')
      .update(JSON.stringify([seed, drawn]))
      .digest()
    return bytes.readUInt32BE(0) % bound
  }

  return {
    of: (all) => all[draw(all.length)] ?? all[0],
    some(all, count) {
      const rest = [...all]
      const chosen = []
      while (chosen.length < count && rest.length > 0) {
        chosen.push(...rest.splice(draw(rest.length), 1))
      }
      return chosen
    },
  }
}
