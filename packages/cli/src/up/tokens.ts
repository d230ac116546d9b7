/**
 * The tokens of a network that `chimera up` made, the operator's and the owner's, each in a file
 * that only this user reads.
 *
 *   T1  The hub shows an operator's token once. It is written down before anything else is done
 *       with it.
 *   T2  A file that is lost is made good: the hub gives another operator's token, and that makes
 *       another one for the owner.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createHubClient, type HubAnswer } from '@chimera/agent/hub/client'
import { checker } from '@chimera/dialects/check'
import { TokenMade } from '@chimera/dialects/chimera'
import type { Clock } from '@chimera/host/clock'
import { understand } from '../ask.ts'
import { Trouble } from '../trouble.ts'
import { ownerTokenIn, writeWhole } from './here.ts'

export type Tokens = { readonly operator?: string; readonly owner?: string }

export const operatorTokenIn = (directory: string): string => join(directory, 'operator.token')

export async function readTokens(directory: string): Promise<Tokens> {
  const operator = await read(operatorTokenIn(directory))
  const owner = await read(ownerTokenIn(directory))
  return { ...(operator && { operator }), ...(owner && { owner }) }
}

const read = (path: string): Promise<string> =>
  readFile(path, 'utf8').then(
    (text) => text.trim(),
    () => '',
  )

/** The owner's token, made where there is none yet. */
export async function ownerToken(
  before: Tokens,
  made: {
    /** As the hub has just shown it. */
    readonly operator: string | undefined
    readonly owner: string
    readonly hub: string
    readonly directory: string
    readonly clock: Clock
  },
): Promise<string> {
  const { hub, directory } = made
  if (made.operator !== undefined) {
    await writeWhole(operatorTokenIn(directory), `${made.operator}\n`)
  }
  if (before.owner !== undefined) return before.owner
  const operator = made.operator ?? before.operator
  if (operator === undefined) throw new Error('the hub gave no operator’s token')
  const client = createHubClient({ hub, token: operator, clock: made.clock, tries: TRIES })
  try {
    const answer = answered(await client.post('/v1/owners', { owner_id: made.owner }))
    const { token } = understand(answer, { check: checker(TokenMade), hub })
    await writeWhole(ownerTokenIn(directory), `${token}\n`)
    return token
  } finally {
    await client.close()
  }
}

/** About ten seconds: a hub that has just been loaded is late, and says that it has no time. */
export const TRIES = 6

export function answered(answer: HubAnswer): unknown {
  if (answer.ok) return answer.body
  throw new Trouble(answer.kind === 'refused' ? answer.sentence : answer.detail)
}
