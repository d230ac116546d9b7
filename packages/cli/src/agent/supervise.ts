/**
 * Keeps an agent running from a file: one process at a time serves, and after a change another one
 * takes its place.
 *
 *   S1  A changed file is loaded first, beside the one that serves. Only if that goes well is the
 *       old one drained; so a mistake in the file takes nothing off the network.
 *   S2  The new one starts when the old one has let go: they share the port, the key and what is
 *       kept. It gets the same port, so that whoever knows the address still reaches it.
 */
import type { Clock } from '@chimera/host/clock'
import type { Stop } from '@chimera/host/stop'
import { watchChanges } from './changes.ts'
import { type Failed, type RunnerProcess, spawnRunner } from './child.ts'
import type { Started, Wanted } from './messages.ts'
import type { WorkEvent } from './work-events.ts'

export type Screen = {
  readonly started: (started: Started, again: boolean) => void
  /** The hub that did not answer has it now. */
  readonly registered: () => void
  readonly work: (event: WorkEvent) => void
  readonly failed: (lines: readonly string[], serving: boolean) => void
  readonly changed: (path: string) => void
  /** It went by itself. */
  readonly gone: (how: string) => void
  readonly notClosed: (names: readonly string[]) => void
}

export type Supervised = {
  readonly file: string
  readonly wanted: Wanted
  readonly port?: number
  readonly watch: boolean
}

export type SuperviseHands = {
  readonly clock: Clock
  readonly stop: Stop
  readonly screen: Screen
}

/** Undefined: it was told to stop. */
export async function supervise(
  { file, wanted, port, watch }: Supervised,
  { clock, stop, screen }: SuperviseHands,
): Promise<Failed | undefined> {
  const changes = watch ? watchChanges({ clock }) : undefined
  let serving: RunnerProcess | undefined
  let loading: RunnerProcess | undefined
  let place = port
  let again = false
  const stopping = new Promise<'stop'>((resolve) => {
    stop.stopping.addEventListener('abort', () => resolve('stop'), { once: true })
  })
  stop.register({
    name: 'agent',
    // The agent's own stop is bounded by nine seconds, of which its last word is a part.
    boundMs: 9_000,
    close: async () => {
      changes?.close()
      loading?.kill()
      const open = (await serving?.stop('the command was stopped')) ?? []
      if (open.length > 0) screen.notClosed(open)
    },
  })

  /** S1, S2. */
  async function bring(): Promise<Failed | undefined> {
    const next = spawnRunner(file, (message) => {
      if (message.say === 'work') screen.work(message.event)
      else if (message.say === 'registered') screen.registered()
      else changes?.add(message.path)
    })
    loading = next
    const loaded = await next.load(wanted)
    if (!loaded.ok) return loaded
    if (stop.stopping.aborted) return undefined
    const open = (await serving?.stop('the file has changed')) ?? []
    if (open.length > 0) screen.notClosed(open)
    serving = next
    loading = undefined
    const begun = await next.start(place)
    if (!begun.ok) {
      serving = undefined
      return begun
    }
    place ??= Number(new URL(begun.started.address).port) || undefined
    screen.started(begun.started, again)
    again = true
    return undefined
  }

  for (;;) {
    const failed = await bring()
    if (stop.stopping.aborted) return undefined
    if (failed !== undefined) {
      loading = undefined
      if (changes === undefined) return failed
      screen.failed(failed.lines, serving !== undefined)
    }
    changes?.widen(failed !== undefined)
    const now = serving
    const gone = now?.ended.then((how) => ({ how }))
    const change = changes?.next()
    let came = await Promise.race([stopping, ...(gone ? [gone] : []), ...(change ? [change] : [])])
    if (typeof came === 'object') {
      if (stop.stopping.aborted) return undefined
      const how = came.how ?? 'by itself'
      if (change === undefined) {
        return { ok: false, lines: [`The agent ended ${how}.`], misused: false }
      }
      screen.gone(how)
      serving = undefined
      came = await Promise.race([stopping, change])
    }
    if (came === 'stop' || stop.stopping.aborted) return undefined
    screen.changed(came)
  }
}
