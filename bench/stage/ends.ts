/** What was opened for a benchmark, to be closed in the opposite order, also when opening fails. */
export type Ends = {
  readonly add: (end: () => unknown) => void
  readonly close: () => Promise<void>
  /** An `open` after whose failure nothing stays open. */
  readonly orNothing: (open: () => Promise<void>) => () => Promise<void>
}

export function createEnds(): Ends {
  const ends: (() => unknown)[] = []
  async function close(): Promise<void> {
    for (const end of ends.splice(0).reverse()) await end()
  }
  return {
    add: (end) => void ends.push(end),
    close,
    orNothing: (open) => async () => {
      try {
        await open()
      } catch (error) {
        await close()
        throw error
      }
    },
  }
}
