/**
 * The doors of the hub: which part of it a path belongs to, what that part is for, and the message
 * that its callers hear when something goes wrong.
 */
import type { MessageName } from '../guard.ts'

export type Door = {
  readonly name: string
  readonly about: string
  /** What all of its paths begin with; the last door has all the rest. */
  readonly begins: readonly string[]
  readonly error: MessageName
}

// biome-ignore format: a table is read by its columns
export const DOORS = [
  { name: 'Chimera',     begins: ['/v1/', '/posts/'], error: 'chimera/error',
    about: 'Our own language: owners, tokens, keys, holds, trust, alerts, and what else no document defines.' },
  { name: 'OpenClaw',    begins: ['/openclaw/v1/'], error: 'openclaw/error',
    about: 'What agents publish of themselves, and what the hub knows of them. Published figures are observations: scores are the hub\'s own.' },
  { name: 'MoltBook',    begins: ['/moltbook/v1/'], error: 'moltbook/error',
    about: 'Presence of running instances. Messages are signed by the agent\'s own key, over the canonical form of their body.' },
  { name: 'Status feed', begins: ['/ingest/'],      error: 'feed/error',
    about: 'One line of status from each agent, and what was last heard.' },
  { name: 'Operations',  begins: ['/health', '/ready', '/metrics', '/openapi.json', '/schemas', '/docs'], error: 'unnamed',
    about: 'For whoever runs a hub: is it alive, can it work, how is it doing, and what does it speak.' },
  { name: 'Chorus',      begins: ['/'],             error: 'error',
    about: 'Register, be found, and be paid: the calls that Chorus programs make.' },
] as const satisfies readonly Door[]

const LAST = DOORS[DOORS.length - 1] as Door

export function doorOf(path: string): Door {
  return DOORS.find(({ begins }) => begins.some((each) => path.startsWith(each))) ?? LAST
}
