/** Where the hub of `chimera up` listens: where it was told to, or where there is room. */
import { isFree } from '../checks.ts'

export type Place = { readonly host: string; readonly port: number }

/** A port that was asked for by name is meant; the usual one is only a habit. */
export async function placeFor(
  listen: Place,
  { named, say }: { readonly named: boolean; readonly say: (words: string) => void },
): Promise<Place> {
  if (named || listen.port === 0 || (await isFree(listen.host, listen.port))) return listen
  say(`Port ${listen.port} is taken, so another one is used.`)
  return { ...listen, port: 0 }
}
