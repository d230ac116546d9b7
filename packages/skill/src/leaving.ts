/**
 * Whether somebody still waits: what an AbortSignal says, for the inside. There are several for
 * each call, and a real signal costs more than all the rest of a small one.
 */
export type Leaving = {
  readonly hasLeft: () => boolean
  /** What was said of it, if anything was. */
  readonly why: () => string | undefined
  /** Runs when it happens, once; not at all when it has happened. Answers how to take it back. */
  readonly onLeave: (run: () => void) => () => void
}

export type Leaver = Leaving & { readonly leave: (why?: string) => void }

export function createLeaver(): Leaver {
  let left = false
  let said: string | undefined
  let heard: Set<() => void> | undefined
  return {
    hasLeft: () => left,
    why: () => said,
    onLeave(run) {
      if (left) return () => undefined
      heard ??= new Set()
      heard.add(run)
      return () => {
        heard?.delete(run)
      }
    },
    leave(why) {
      if (left) return
      left = true
      said = why
      const runs = heard ?? []
      heard = undefined
      for (const run of runs) run()
    },
  }
}
