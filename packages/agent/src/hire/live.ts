/**
 * How work goes on, heard from the agent's server-sent events (P-7). A connection that breaks is
 * taken up again behind the last event that was heard.
 *
 *   V1  Nothing depends on it: an agent that tells nothing is followed all the same.
 *   V2  What one event may be is bounded, and so is all that comes over one connection.
 */
import { readWorkProgress } from '@chimera/dialects/chimera'
import * as openclaw from '@chimera/dialects/openclaw'
import { LIMITS } from '@chimera/domain/limits'
import { tellAnswer } from './begin.ts'
import { aboutOf, type Candidate, type Errand, type Hands, pause } from './errand.ts'

export type Listening = {
  /** Resolves when all is heard that was said, or a moment later. */
  readonly heard: () => Promise<void>
  readonly stop: () => void
}

export type LiveEvent = { readonly id?: string; readonly event: string; readonly data: string }

/** What the agent says last is on its way when the result is there already. */
const LAST_WORDS_MS = 150
/** Two beats of the agent's, and the time that they take. */
const SILENCE_MS = 2.5 * LIMITS.liveBeatMs
/** Of one connection; a longer story is taken up by the next. */
const MOST_BYTES = 16 * 1024 * 1024

export function listen(hands: Hands, place: Candidate, errand: Errand): Listening | undefined {
  const { door, clock } = hands
  const { tell, asked, terms } = errand
  if (tell === undefined) return undefined
  const stop = new AbortController()
  const bounded = { ...errand, terms: { ...terms, signal: stop.signal } }
  let after: string | undefined
  const over = new AbortController()

  function hear({ id, event, data }: LiveEvent): void {
    if (id !== undefined) after = id
    const said = parsed(data)
    if (event === 'progress') {
      const progress = readWorkProgress(said)
      if (!progress.ok) return
      const { share, note } = progress.value
      tell?.({ is: 'progress', ...aboutOf(place), share, ...(note !== undefined && { note }) })
    } else if (event === 'response') {
      const response = openclaw.readResponse(said)
      if (!response.ok || response.value.answer === 'refused') return
      const { value } = response
      if (value.answer === 'accepted') tellAnswer(errand, place, { kind: 'accepted' })
      else tellAnswer(errand, place, { kind: 'deferred', until: value.until })
    } else if (event === 'result') over.abort()
  }

  async function run(): Promise<void> {
    for (let failures = 1; !stop.signal.aborted; failures += 1) {
      const timeoutMs = terms.deadline - clock.now()
      if (timeoutMs <= 0) return
      const status = await door.events(place, asked, {
        timeoutMs,
        silenceMs: SILENCE_MS,
        mostBytes: MOST_BYTES,
        signal: stop.signal,
        onPiece: createReading(hear),
        ...(after !== undefined && { after }),
      })
      // V1: it has no such door, or not for us.
      const none = status !== undefined && status !== 200 && status < 500
      if (none || over.signal.aborted || !(await pause(hands, bounded, failures))) return
    }
  }

  const running = run().catch(() => undefined)
  return {
    heard: async () => {
      const late = new AbortController()
      const waiting = clock.sleep(LAST_WORDS_MS, late.signal).catch(() => undefined)
      await Promise.race([running, waiting])
      late.abort()
    },
    stop: () => stop.abort(),
  }
}

/** From pieces to events, as the standard says; an event that is too long is passed over. */
export function createReading(hear: (event: LiveEvent) => void): (piece: Uint8Array) => void {
  const decoder = new TextDecoder()
  let rest = ''
  let tooLong = false
  return (piece) => {
    rest += decoder.decode(piece, { stream: true })
    rest = rest.replaceAll('\r\n', '\n')
    for (let end = rest.indexOf('\n\n'); end >= 0; end = rest.indexOf('\n\n')) {
      const block = rest.slice(0, end)
      rest = rest.slice(end + 2)
      if (!tooLong) take(block, hear)
      tooLong = false
    }
    if (rest.length <= 2 * LIMITS.bodyBytes) return
    // Its end is still looked for, so that the next one is read from its beginning.
    tooLong = true
    rest = rest.slice(-2)
  }
}

function take(block: string, hear: (event: LiveEvent) => void): void {
  let id: string | undefined
  let event = 'message'
  const data: string[] = []
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':')
    if (colon <= 0) continue
    const value = line.slice(colon + 1).replace(/^ /, '')
    const field = line.slice(0, colon)
    if (field === 'id') id = value
    else if (field === 'event') event = value
    else if (field === 'data') data.push(value)
  }
  if (data.length === 0) return
  hear({ event, data: data.join('\n'), ...(id !== undefined && { id }) })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
