/**
 * The agent's line to the broker: opened when the agent is registered, watched, and closed last.
 *
 *   L1  The broker being away stops nothing: whoever wants to say something asks whether it is
 *       there, and has another way where it is not. That is in the log once, when it lasts.
 *   L2  What is heard is dealt with so many at a time. Who falls too far behind is cut off by the
 *       bus, and listens again a moment later.
 *   L3  Nothing that comes from the bus can throw into the agent.
 */
import type { Clock, Timer } from '@chimera/host/clock'
import type { Log } from '@chimera/host/log'
import type {
  BusHeard,
  BusHearing,
  BusHearingOptions,
  BusNeeds,
  BusOption,
  BusPort,
} from './port.ts'

export type LineHands = {
  readonly bus: BusOption
  readonly needs: BusNeeds
  readonly clock: Clock
  readonly log: Log
}

export type Listening = BusHearingOptions & {
  readonly pattern: string
  /** What it is about, for the log. */
  readonly topic: string
  readonly deal: (heard: BusHeard) => Promise<void>
}

export type Line = {
  /** Resolves when the broker is there, or after a moment without it. */
  readonly open: () => Promise<void>
  /** The bus while the broker is there. */
  readonly bus: () => BusPort | undefined
  /** From the opening on. */
  readonly hear: (listening: Listening) => void
  /** Hears nothing more, and waits for what is being dealt with. */
  readonly deafen: () => Promise<void>
  readonly close: () => Promise<void>
}

// Who starts an agent waits this long for a broker; then the hub is told over HTTP.
const OPENING_MS = 2_000
// A grant that ends costs some milliseconds each quarter of an hour, of which nobody need know.
const AWAY_MS = 5_000
const AGAIN_MS = 1_000
// Each is a question or two to the hub, and none waits for its work.
const AT_ONCE = 64

export function createLine({ bus: option, needs, clock, log }: LineHands): Line {
  const closing = new AbortController()
  const wanted: Listening[] = []
  const hearings = new Set<BusHearing>()
  const loops: Promise<void>[] = []
  let bus: BusPort | undefined
  let opening: Promise<void> | undefined
  let unwatch: (() => void) | undefined
  let late: Timer | undefined
  let toldAway = false

  const isThere = (): boolean => bus?.state().type === 'connected'

  function noteAway(): void {
    late ??= clock.after(AWAY_MS, () => {
      late = undefined
      if (isThere() || closing.signal.aborted) return
      toldAway = true
      log.warn('the broker is away: the hub is told over HTTP until it is back')
    })
  }

  function noteBack(): void {
    late?.cancel()
    late = undefined
    if (toldAway) log.info('the broker is back')
    toldAway = false
  }

  async function keepHearing(on: BusPort, listening: Listening): Promise<void> {
    const { pattern, topic, deal, ...options } = listening
    while (!closing.signal.aborted && on.state().type !== 'closed') {
      const running = new Set<Promise<void>>()
      let hearing: BusHearing | undefined
      try {
        hearing = on.subscribe(pattern, options)
        hearings.add(hearing)
        for await (const heard of hearing) {
          const dealt: Promise<void> = deal(heard)
            .catch((error: unknown) => log.error({ err: error, topic }, 'a message failed'))
            .finally(() => running.delete(dealt))
          running.add(dealt)
          if (running.size >= AT_ONCE) await Promise.race(running)
        }
      } catch (error) {
        log.warn({ err: error, topic }, 'what is said on the bus was not all heard')
      }
      if (hearing !== undefined) hearings.delete(hearing)
      await Promise.all(running)
      await clock.sleep(AGAIN_MS, closing.signal).catch(() => undefined)
    }
  }

  async function open(): Promise<void> {
    try {
      bus = typeof option === 'function' ? await option(needs) : option
    } catch (error) {
      log.error({ err: error }, 'the bus cannot be opened: the hub is told over HTTP')
      return
    }
    const on = bus
    for (const each of wanted) loops.push(keepHearing(on, each))
    let arrived = (): void => undefined
    const there = new Promise<void>((resolve) => {
      arrived = resolve
    })
    unwatch = on.watch(({ type }) => {
      if (type === 'away') noteAway()
      if (type === 'connected') {
        noteBack()
        arrived()
      }
    })
    if (isThere()) return
    noteAway()
    const timer = clock.after(OPENING_MS, arrived)
    closing.signal.addEventListener('abort', arrived, { once: true })
    await there
    timer.cancel()
  }

  return {
    open: () => {
      opening ??= open()
      return opening
    },
    bus: () => (isThere() ? bus : undefined),
    hear: (listening) => {
      wanted.push(listening)
      if (bus !== undefined) loops.push(keepHearing(bus, listening))
    },
    deafen: async () => {
      closing.abort()
      late?.cancel()
      for (const each of hearings) each.close()
      await opening
      await Promise.all(loops)
    },
    close: async () => {
      unwatch?.()
      if (typeof option === 'function') await bus?.close()
    },
  }
}
