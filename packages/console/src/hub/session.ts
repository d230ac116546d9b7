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

const IN_ADDRESS = /^#token=([\w-]{1,200})$/

type Address = { readonly hash: string; readonly pathname: string }

/**
 * The token that an address carries behind its `#`, as `chimera up` prints it: no server hears that
 * part, and it is taken out before anybody can copy it from the bar or find it in the history.
 */
export function takeToken(
  { hash, pathname }: Address,
  replace: (address: string) => void,
): string | undefined {
  const [, token] = IN_ADDRESS.exec(hash) ?? []
  if (token !== undefined) replace(pathname)
  return token
}
