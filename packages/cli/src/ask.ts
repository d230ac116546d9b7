/**
 * Asks a hub. The address is the user's own, so nothing is guarded here but the time that it takes
 * and the shape of what comes back.
 */
import { type Check, checker } from '@chimera/dialects/check'
import { ErrorBody } from '@chimera/dialects/error'
import { within } from './patience.ts'
import { plain } from './show.ts'
import { Trouble } from './trouble.ts'

// A hub answers in milliseconds; whoever waits this long waits for something else.
const PATIENCE_MS = 10_000

/** What the hub answers under this path, as it came. */
export async function askHub(hub: string, path: string): Promise<unknown> {
  const { status, text } = await get(`${hub.replace(/\/+$/, '')}${path}`, hub)
  const body = parse(text)
  if (body === undefined) throw noHub(hub)
  if (status >= 200 && status < 300) return body
  const refusal = checker(ErrorBody)(body)
  if (!refusal.ok) throw noHub(hub)
  const { message, details } = refusal.message
  const issues = details?.issues ?? []
  throw new Trouble([
    plain(message),
    ...issues.map(({ path: at, expected, got }) =>
      plain(`${at}: expected ${expected}; got ${got}`),
    ),
  ])
}

/** The answer as what it should be; anything else comes from no hub that is known here. */
export function understand<Message>(
  answer: unknown,
  { check, hub }: { readonly check: Check<Message>; readonly hub: string },
): Message {
  const checked = check(answer)
  if (!checked.ok) throw noHub(hub)
  return checked.message
}

async function get(
  address: string,
  hub: string,
): Promise<{ readonly status: number; readonly text: string }> {
  try {
    return await within(PATIENCE_MS, async (signal) => {
      const response = await fetch(address, { signal })
      return { status: response.status, text: await response.text() }
    })
  } catch (cause) {
    const late = cause instanceof Error && cause.name === 'TimeoutError'
    throw new Trouble([
      late
        ? `The hub on ${hub} did not answer within ${PATIENCE_MS / 1_000} s.`
        : `No hub answers on ${hub}.`,
      'Start one with `chimera hub` (in a checkout: `npm start -- hub`), or say where yours is',
      'with --hub or CHIMERA_HUB.',
    ])
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const noHub = (hub: string) =>
  new Trouble([
    `What answers on ${hub} is not a hub that this version understands.`,
    'Say where yours is with --hub or CHIMERA_HUB.',
  ])
