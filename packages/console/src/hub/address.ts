/** The token that the page's address may carry, as `chimera up` prints it. */
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
