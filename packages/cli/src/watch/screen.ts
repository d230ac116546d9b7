/**
 * `chimera watch` at a terminal: the network on one screen, drawn anew as it changes.
 *
 *   S1  The terminal is given back as it was, however it ends.
 *   S2  Events come from the live feed; the lists of agents, work and sums are asked for every few
 *       seconds, and sooner after an event, but never twice at once.
 *   S3  A hub that is away for a moment is no end: what is known stays, and the first line says so.
 */
import type { Check } from '@chimera/dialects/check'
import type { Clock } from '@chimera/host/clock'
import { askHub } from '../ask.ts'
import { Trouble } from '../trouble.ts'
import { drawWatched, type Size } from './draw.ts'
import {
  applyEvent,
  applyLists,
  beginWatching,
  checkAgents,
  checkHolds,
  checkSums,
  type Watched,
} from './state.ts'
import { type Followed, followLive } from './stream.ts'
import { toldBy } from './words.ts'

/** As much of a terminal as is needed. */
export type Terminal = {
  readonly size: () => Size
  readonly colour: boolean
  readonly write: (text: string) => void
  /** Hears what is typed; returns the way to stop that. */
  readonly onKeys: (hear: (keys: string) => void) => () => void
  readonly onResize: (hear: () => void) => () => void
}

const ENTER = '\u001b[?1049h\u001b[?25l\u001b[2J'
const LEAVE = '\u001b[?25h\u001b[?1049l'
const HOME = '\u001b[H'
const REST_OF_LINE = '\u001b[K'
const REST_OF_SCREEN = '\u001b[J'

const LOOK_MS = 2_000
// What happens comes in heaps, and one look is enough for each.
const SOON_MS = 300
// Ages and spans move on by themselves.
const DRAW_MS = 500

const LEAVING = new Set(['q', 'Q', '\u0003', '\u001b', '\u0004'])

export async function watchScreen(
  asked: Followed,
  { terminal, clock, over }: Hands,
): Promise<void> {
  const { signal } = over
  let watched = beginWatching(asked.hub)
  const draw = (): void => {
    const { colour, size, write } = terminal
    const lines = drawWatched(watched, size(), { now: clock.now(), colour })
    write(`${HOME}${lines.map((line) => line + REST_OF_LINE).join('\r\n')}${REST_OF_SCREEN}`)
  }
  const change = (next: (before: Watched) => Watched): void => {
    watched = next(watched)
    draw()
  }
  const leave = (): void => over.abort()
  const offKeys = terminal.onKeys((keys) => {
    if ([...keys].some((key) => LEAVING.has(key))) leave()
  })
  const offResize = terminal.onResize(draw)
  terminal.write(ENTER)
  try {
    draw()
    const say = (words: string): void => change((before) => ({ ...before, trouble: words }))
    const onOpen = (): void => change((before) => ({ ...before, trouble: undefined }))
    let wake = new AbortController()
    const events = async (): Promise<void> => {
      for await (const heard of followLive(asked, { clock, say, onOpen, signal })) {
        const told = heard.event === 'gap' ? undefined : toldBy(heard)
        if (told === undefined) continue
        change((before) => applyEvent(before, { topic: heard.event, told }))
        wake.abort()
      }
    }
    const looks = async (): Promise<void> => {
      while (!signal.aborted) {
        // Made before the look, which may miss what happens meanwhile.
        wake = new AbortController()
        const woken = AbortSignal.any([signal, wake.signal])
        const lists = await lookAt(asked).catch(() => undefined)
        if (lists !== undefined) change((before) => applyLists(before, lists, clock.now()))
        await clock.sleep(SOON_MS, signal).catch(() => undefined)
        await clock.sleep(LOOK_MS, woken).catch(() => undefined)
      }
    }
    const ticks = async (): Promise<void> => {
      while (!signal.aborted) {
        await clock.sleep(DRAW_MS, signal).catch(() => undefined)
        draw()
      }
    }
    await Promise.all([events(), looks(), ticks()].map((each) => each.finally(leave)))
  } finally {
    offKeys()
    offResize()
    terminal.write(LEAVE)
  }
}

export type Hands = {
  readonly terminal: Terminal
  readonly clock: Clock
  /** Aborted when it is over: by a key, by a signal, or because the hub says no. */
  readonly over: AbortController
}

/** Work and money are told to whoever may hear of them; everybody may see who is there. */
async function lookAt(asked: Followed) {
  const [list, held, sums] = await Promise.all([
    get(asked, '/v1/agents', checkAgents),
    get(asked, '/v1/holds?limit=50', checkHolds).catch(unlessSilent),
    get(asked, '/v1/books?spans=1', checkSums).catch(unlessSilent),
  ])
  return {
    agents: list.agents,
    total: list.total,
    ...(held && { holds: held.holds }),
    ...(sums && { sums }),
  }
}

/** A hub that says no is believed; one that says nothing has told nothing. */
function unlessSilent(error: unknown): undefined {
  if (!(error instanceof Trouble)) throw error
  return undefined
}

async function get<Message>(
  { hub, token }: Followed,
  path: string,
  check: Check<Message>,
): Promise<Message> {
  const checked = check(await askHub(hub, path, { token }))
  if (!checked.ok) throw new Trouble('What answers there is not a hub of this version.')
  return checked.message
}
