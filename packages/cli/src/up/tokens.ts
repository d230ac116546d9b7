/**
 * The tokens of a network that `chimera up` made: the operator's and the owner's, in one file that
 * only this user reads.
 *
 *   T1  The hub shows an operator's token once. It is written down before anything else is done
 *       with it.
 *   T2  A file that is lost is made good: the hub gives another operator's token, and that makes
 *       another one for the owner.
 */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { checker } from '@chimera/dialects/check'
import { TokenMade } from '@chimera/dialects/chimera'
import { keepSecret } from '@chimera/host/settings/secret'
import { askHub, understand } from '../ask.ts'

export type Tokens = { readonly operator?: string; readonly owner?: string }

export async function readTokens(path: string): Promise<Tokens> {
  try {
    const kept: Readonly<Record<string, unknown>> = JSON.parse(await readFile(path, 'utf8'))
    const { operator, owner } = kept
    return {
      ...(typeof operator === 'string' && { operator }),
      ...(typeof owner === 'string' && { owner }),
    }
  } catch {
    return {}
  }
}

export async function writeTokens(path: string, tokens: Tokens): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const beside = `${path}.new`
  await writeFile(beside, `${JSON.stringify(tokens, undefined, 2)}\n`, { mode: 0o600 })
  await rename(beside, path)
}

export async function makeOwner(hub: string, owner: string, operator: string): Promise<string> {
  const answer = await askHub(hub, '/v1/owners', {
    token: keepSecret(operator).secret,
    method: 'POST',
    body: { owner_id: owner },
  })
  return understand(answer, { check: checker(TokenMade), hub }).token
}
