/**
 * The live feed, followed for as long as the page is open.
 *
 *   V1  After a cut it goes on behind the last id that it has: nothing is missed without being
 *       told (`gap`), and nothing comes twice. Where it has none yet, it tells so itself.
 *   V2  It tries again sooner when somebody may be looking, and later each time it fails.
 *   V3  A connection that has said nothing for longer than the hub's beat is taken for dead.
 */
import { readTold, type Told } from '../state/events.ts'
import { refusalIn } from './ask.ts'
import { createFrameReader } from './frames.ts'

export type LinkState =
  | { readonly is: 'connecting' }
  | { readonly is: 'live'; readonly since: number }
  | { readonly is: 'lost'; readonly since: number; readonly retryAt: number }
  | { readonly is: 'refused'; readonly message: string }

export type FollowOptions = {
  readonly headers: () => Record<string, string>
  readonly onEvents: (events: readonly Told[]) => void
  /** Something is missing for good, or was missed: what is shown is asked for anew. */
  readonly onGap: () => void
  readonly onState: (state: LinkState) => void
}

export type Follower = { readonly retryNow: () => void; readonly close: () => void }

const PATH = '/v1/live'
// The hub says something every 15 seconds.
const SILENCE_MS = 40_000
const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 15_000

export function followHub(options: FollowOptions): Follower {
  const { headers, onEvents, onGap, onState } = options
  const closing = new AbortController()
  let lastId: string | undefined
  let failures = 0
  let wake: () => void = () => undefined

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      const outcome = await readOnce().catch(() => 'lost' as const)
      if (closing.signal.aborted || outcome === 'refused') return
      failures = outcome === 'ended' ? 0 : failures + 1
      const waitMs = outcome === 'ended' ? 0 : waitAfter(failures)
      const now = Date.now()
      if (waitMs > 0) onState({ is: 'lost', since: now, retryAt: now + waitMs })
      await rest(waitMs)
    }
  }

  async function readOnce(): Promise<'ended' | 'lost' | 'refused'> {
    const silence = new AbortController()
    const signal = AbortSignal.any([closing.signal, silence.signal])
    let timer = setTimeout(() => silence.abort(), SILENCE_MS)
    const listen = () => {
      clearTimeout(timer)
      timer = setTimeout(() => silence.abort(), SILENCE_MS)
    }
    try {
      const answer = await fetch(PATH, {
        headers: { ...headers(), ...(lastId !== undefined && { 'last-event-id': lastId }) },
        credentials: 'omit',
        cache: 'no-store',
        signal,
      })
      if (!answer.ok || answer.body === null) return await refuse(answer)
      onState({ is: 'live', since: Date.now() })
      failures = 0
      // Without a place it begins now, and what came since the screen was loaded is behind it.
      if (lastId === undefined) onGap()
      return await readBody(answer.body, listen)
    } finally {
      clearTimeout(timer)
    }
  }

  async function refuse(answer: Response): Promise<'lost' | 'refused'> {
    if (answer.status !== 401 && answer.status !== 403) return 'lost'
    onState({ is: 'refused', message: (await refusalIn(answer)).message })
    return 'refused'
  }

  async function readBody(
    body: ReadableStream<Uint8Array>,
    listen: () => void,
  ): Promise<'ended' | 'lost'> {
    const frames = createFrameReader(lastId)
    const decoder = new TextDecoder()
    const reader = body.getReader()
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return 'lost'
      listen()
      const events: Told[] = []
      let ended = false
      for (const { event, data } of frames.push(decoder.decode(value, { stream: true }))) {
        if (event === 'gap') onGap()
        else if (event === 'cut') ended = true
        else {
          const told = readTold(event, data)
          if (told !== undefined) events.push(told)
        }
      }
      // Only what was handed on is behind us.
      if (events.length > 0) onEvents(events)
      lastId = frames.lastId()
      if (ended) return 'ended'
    }
  }

  const rest = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  onState({ is: 'connecting' })
  void run()
  return {
    retryNow: () => wake(),
    close: () => {
      closing.abort()
      wake()
    },
  }
}

/** Up to so much longer by chance, so that all pages of a hub do not come back at once. */
function waitAfter(failures: number): number {
  const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(failures - 1, 10))
  return wait * (1 + Math.random() / 4)
}
