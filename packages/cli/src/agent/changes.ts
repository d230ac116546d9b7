/**
 * Hears when one of some files changes. Editors put a new file in the place of the old one, so the
 * folders are watched and not the files.
 *
 *   C1  A change that comes while nobody waits is told to whoever waits next.
 *   C2  Several changes in a row are one: it is told when it has been quiet for a moment.
 */
import { type FSWatcher, watch } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Clock, Timer } from '@chimera/host/clock'

export type Changes = {
  readonly add: (path: string) => void
  /** Whether any file of code beside those that are known counts: one may be missing. */
  readonly widen: (wide: boolean) => void
  /** The file that has changed. */
  readonly next: () => Promise<string>
  readonly close: () => void
}

// An editor that saves all, or a checkout, is done after this.
const QUIET_MS = 100
const CODE = /\.([cm]?[jt]s|json)$/

export function watchChanges({ clock }: { readonly clock: Clock }): Changes {
  const files = new Set<string>()
  const folders = new Map<string, FSWatcher>()
  let wide = false
  let changed: string | undefined
  let quiet: Timer | undefined
  let waiting: ((path: string) => void) | undefined

  function hear(path: string): void {
    if (!files.has(path) && !(wide && CODE.test(path))) return
    changed ??= path
    quiet?.cancel()
    quiet = clock.after(QUIET_MS, () => {
      quiet = undefined
      tell()
    })
  }

  function tell(): void {
    if (waiting === undefined || changed === undefined || quiet !== undefined) return
    const hearer = waiting
    const path = changed
    waiting = undefined
    changed = undefined
    hearer(path)
  }

  return {
    add(path) {
      files.add(path)
      const folder = dirname(path)
      if (folders.has(folder)) return
      const watcher = watch(folder, (_, name) => {
        if (name !== null) hear(join(folder, basename(name)))
      })
      // A folder that goes away has nothing more to tell.
      watcher.on('error', () => watcher.close())
      folders.set(folder, watcher)
    },
    widen: (whether) => {
      wide = whether
    },
    next: () =>
      new Promise((resolve) => {
        waiting = resolve
        tell()
      }),
    close: () => {
      quiet?.cancel()
      for (const watcher of folders.values()) watcher.close()
    },
  }
}
