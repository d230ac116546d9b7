/**
 * Secrets of the providers: from a file or from a variable that the settings name. What is thrown
 * names the place and never the secret.
 */
import { readFile, stat } from 'node:fs/promises'
import { keepSecret, type Secret } from '@chimera/host/settings/secret'
import { ProvidersWrong, type SecretPlace } from './settings.ts'

export type Environment = Readonly<Record<string, string | undefined>>

// Keys and tokens have some hundred characters; a much larger file is something else.
const MOST_BYTES = 16_384

/** `path` is the field of the settings, such as `/models/0/key`. */
export async function readSecret(
  path: string,
  { env, file }: SecretPlace,
  environment: Environment,
): Promise<Secret> {
  const said = file === undefined ? environment[env ?? ''] : await readSmall(path, file)
  const text = said?.trim() ?? ''
  if (text !== '') return keepSecret(text).secret
  const place = file === undefined ? `the variable ${env}` : `the file ${file}`
  throw new ProvidersWrong([{ path, expected: `a secret in ${place}`, got: 'nothing' }])
}

async function readSmall(path: string, file: string): Promise<string> {
  const wrong = (got: string) =>
    new ProvidersWrong([{ path: `${path}/file`, expected: 'a file that can be read', got }])
  try {
    if ((await stat(file)).size > MOST_BYTES) throw wrong('one that is too large for a secret')
    return await readFile(file, 'utf8')
  } catch (cause) {
    if (cause instanceof ProvidersWrong) throw cause
    const { code }: { readonly code?: unknown } = Object(cause)
    throw wrong(typeof code === 'string' ? `${file}: ${code}` : file)
  }
}
