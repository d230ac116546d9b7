/**
 * The live feed of a hub, without an end.
 *
 *   W1  A connection that breaks is taken up again behind the last event, so that none is missed
 *       and none comes twice. Where the hub cannot promise that, an event says so.
 *   W2  Only what time can cure is tried again: a hub that says no is believed.
 */
import { checker } from '@chimera/dialects/check'
import { LiveCut } from '@chimera/dialects/chimera'
import { ErrorBody } from '@chimera/dialects/error'
import type { Clock } from '@chimera/host/clock'
import type { Secret } from '@chimera/host/settings/secret'
import { type Heard, readEvents } from '../event-lines.ts'
import { plain } from '../show.ts'
import { Trouble } from '../trouble.ts'

export type Followed = {
  readonly hub: string
  readonly token?: Secret | undefined
  readonly topics: readonly string[]
  readonly agent?: string | undefined
  readonly owner?: string | undefined
  readonly task?: string | undefined
  /** Begin behind this event. */
  readonly after?: string | undefined
}

export type StreamHands = {
  readonly clock: Clock
  /** Hears how the connection is. */
  readonly say: (words: string) => void
  /** Hears that it stands. */
  readonly onOpen?: () => void
  readonly signal?: AbortSignal
}

// As a browser does, and a little longer with each try in a row.
const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 15_000
// The hub says that it is alive every 15 s.
const SILENCE_MS = 45_000

/** Throws where the hub was never there or says no; ends when it is told to. */
export async function* followLive(asked: Followed, hands: StreamHands): AsyncGenerator<Heard> {
  const { clock, say, signal } = hands
  let last = asked.after
  let connected = false
  for (let tries = 0; ; tries += 1) {
    if (signal?.aborted) return
    let heardSome = false
    const opened = (): void => {
      connected = true
      hands.onOpen?.()
    }
    const seen = (id: string): void => {
      last = id
    }
    try {
      for await (const heard of listen(asked, last, seen, { ...hands, onOpen: opened })) {
        if (heard.event === 'cut') {
          sayCut(heard, say)
          break
        }
        heardSome = true
        yield heard
      }
      if (connected && !signal?.aborted) say('The stream has ended; connecting again.')
    } catch (error) {
      if (signal?.aborted) return
      // A hub that was never there is a mistake in the address; one that was is restarting.
      if (error instanceof Trouble || !connected) throw noHub(asked.hub, error)
      if (tries === 0 || heardSome) say('The connection is lost; connecting again.')
    }
    if (heardSome) tries = 0
    const waitMs = Math.min(FIRST_WAIT_MS * 2 ** tries, LONGEST_WAIT_MS)
    await clock.sleep(waitMs, signal).catch(() => undefined)
  }
}

async function* listen(
  asked: Followed,
  last: string | undefined,
  seen: (id: string) => void,
  { say, onOpen, signal }: StreamHands,
): AsyncGenerator<Heard> {
  const over = new AbortController()
  const leave = (): void => over.abort(new Error('left'))
  signal?.addEventListener('abort', leave)
  let timer: NodeJS.Timeout | undefined
  const awake = () => {
    clearTimeout(timer)
    timer = setTimeout(() => over.abort(new Error('silence')), SILENCE_MS)
  }
  awake()
  try {
    const response = await fetch(addressOf(asked), {
      signal: over.signal,
      headers: headersOf(asked, last),
    })
    if (response.status !== 200) {
      const isLater = response.status === 503 || response.status === 429
      const words = explain(await response.text())
      if (!isLater) throw new Trouble(words)
      say(words[0] ?? 'The hub has no room.')
      return
    }
    onOpen?.()
    async function* bytes(): AsyncGenerator<Uint8Array> {
      for await (const part of response.body ?? []) {
        awake()
        yield part
      }
    }
    yield* readEvents(bytes(), seen)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', leave)
    over.abort()
  }
}

function addressOf({ hub, topics, agent, owner, task, after }: Followed): string {
  const query = new URLSearchParams({
    ...(topics.length > 0 && { topics: topics.join(',') }),
    ...(agent !== undefined && { agent_id: agent }),
    ...(owner !== undefined && { owner_id: owner }),
    ...(task !== undefined && { task_id: task }),
    // The field beside it counts first; this one lets the hub say what is wrong with it.
    ...(after !== undefined && { after }),
  })
  const words = query.toString()
  return `${hub.replace(/\/+$/, '')}/v1/live${words === '' ? '' : `?${words}`}`
}

function headersOf({ token }: Followed, last: string | undefined): Record<string, string> {
  const presented = token?.reveal() ?? (process.env.CHIMERA_TOKEN || undefined)
  return {
    accept: 'text/event-stream',
    ...(presented !== undefined && { authorization: `Bearer ${presented}` }),
    ...(last !== undefined && last !== '0' && { 'last-event-id': last }),
  }
}

const checkCut = checker(LiveCut)

function sayCut({ data }: Heard, say: (words: string) => void): void {
  const cut = checkCut(JSON.parse(data))
  if (cut.ok && cut.message.why !== 'time') say(`The hub has ended the stream: ${cut.message.why}.`)
}

function explain(body: string): readonly string[] {
  try {
    const refusal = checker(ErrorBody)(JSON.parse(body))
    if (!refusal.ok) return ['What answers there is not a hub that this version understands.']
    const { message, details } = refusal.message
    const issues = details?.issues ?? []
    return [message, ...issues.map((each) => `${each.path}: expected ${each.expected}`)].map(plain)
  } catch {
    return ['What answers there is not a hub that this version understands.']
  }
}

const noHub = (hub: string, error: unknown): Trouble =>
  error instanceof Trouble
    ? error
    : new Trouble([
        `No hub answers on ${hub}.`,
        'Start one with `chimera hub`, or say where yours is with --hub or CHIMERA_HUB.',
      ])
