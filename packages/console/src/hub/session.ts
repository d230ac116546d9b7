/**
 * Who is signed in: a token in memory, gone with the page. Whoever asks for it may keep it for this
 * tab, which survives a reload and ends with the tab.
 */
export type Session = {
  readonly token: () => string | undefined
  readonly signIn: (token: string, kept: boolean) => void
  readonly signOut: () => void
}

const PLACE = 'chimera-token'

export function createSession(storage: Storage | undefined): Session {
  let token = storage?.getItem(PLACE) ?? undefined
  return {
    token: () => token,
    signIn(text, kept) {
      token = text
      if (kept) storage?.setItem(PLACE, text)
      else storage?.removeItem(PLACE)
    },
    signOut() {
      token = undefined
      storage?.removeItem(PLACE)
    },
  }
}

/** A browser may refuse it altogether. */
export function tabStorage(): Storage | undefined {
  try {
    return globalThis.sessionStorage
  } catch {
    return undefined
  }
}
