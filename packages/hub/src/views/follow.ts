/** Keeps the views that are made of the sealed trail up to it. */
import type { Sealed } from '@chimera/domain/audit'
import type { Keep } from '../ports/keep.ts'
import type { ScoreMoved, Scores } from './scores.ts'

/** Seals what is there and lets the scores follow; calls that come together share one run. */
export function followTrail(
  keep: Pick<Keep, 'trail'>,
  scores: Scores,
  heard: (moved: readonly ScoreMoved[]) => void = () => undefined,
  /** What else goes by the trail. */
  also: (sealed: readonly Sealed<unknown>[]) => Promise<void> = async () => undefined,
): () => Promise<void> {
  let running: Promise<void> | undefined
  let again: Promise<void> | undefined

  async function take(sealed: readonly Sealed<unknown>[]): Promise<void> {
    // First, so that what fails is done with the next run, when the scores have not moved on.
    await also(sealed)
    heard(scores.follow(sealed))
  }

  async function run(): Promise<void> {
    // What is sealed here need not be read again, unless others sealed something before it.
    await keep.trail.seal(async (sealed) => {
      if (sealed[0]?.seq === scores.seq() + 1) await take(sealed)
    })
    for (;;) {
      const sealed = await keep.trail.sealedAfter(scores.seq())
      if (sealed.length === 0) return
      await take(sealed)
    }
  }
  const begin = (): Promise<void> => {
    const mine = run().finally(() => {
      if (running === mine) running = undefined
    })
    running = mine
    return mine
  }
  // A run that has begun may have missed what its caller just wrote, so that one waits for the
  // next.
  return () => {
    if (running === undefined) return begin()
    again ??= running
      .catch(() => undefined)
      .then(() => {
        again = undefined
        return begin()
      })
    return again
  }
}
