/**
 * Secrets that stand in files, read again when told to or at intervals, so that they can be
 * rotated without a restart (SF-6).
 *
 *   F1  A file is read whole and compared: dates of files are too coarse, and a mounted secret is
 *       swapped behind its name.
 *   F2  While a file is missing, empty or wrong, the last good secret stays in force, and the
 *       problem is told.
 *   F3  Two readings never overlap.
 */
import type { Clock } from '../clock.ts'
import type { Setting } from './declare.ts'
import type { Problem } from './problems.ts'
import type { KeptSecret } from './secret.ts'
import { codeOf, type Read, type Said } from './sources.ts'

export type SecretFile = {
  readonly name: string
  readonly setting: Setting<unknown>
  readonly said: Said
  readonly kept: KeptSecret
}

export type Refreshed = {
  /** The names of the secrets that are others now. */
  readonly changed: readonly string[]
  readonly problems: readonly Problem[]
}

export type SecretFiles = { readonly refresh: () => Promise<Refreshed> }

export type SecretRead =
  | { readonly ok: true; readonly value: string }
  | { readonly ok: false; readonly problem: Problem }

export async function readSecret(
  name: string,
  setting: Setting<unknown>,
  { raw, from }: Said,
  read: Read,
): Promise<SecretRead> {
  const wrong = (expected: string, got: string): SecretRead => ({
    ok: false,
    problem: { setting: name, from, expected, got },
  })
  if (typeof raw !== 'string') return wrong('the path of a file', 'something else')
  try {
    // Editors and `echo` end a file with a line break that is no part of the secret.
    const value = setting.read((await read(raw)).replace(/\r?\n$/, ''))
    return typeof value === 'string'
      ? { ok: true, value }
      : wrong(`a file that holds ${setting.expected}`, 'something else, which is not shown')
  } catch (cause) {
    return wrong('a file that can be read', codeOf(cause))
  }
}

export function createSecretFiles(files: readonly SecretFile[], read: Read): SecretFiles {
  async function readAll(): Promise<Refreshed> {
    const changed: string[] = []
    const problems: Problem[] = []
    for (const { name, setting, said, kept } of files) {
      const reading = await readSecret(name, setting, said, read)
      if (!reading.ok) problems.push(reading.problem)
      else if (kept.replace(reading.value)) changed.push(name)
    }
    return { changed, problems }
  }
  let running: Promise<Refreshed> | undefined
  return {
    refresh: () => {
      running ??= readAll().finally(() => {
        running = undefined
      })
      return running
    },
  }
}

export type Watch = {
  readonly clock: Clock
  readonly everyMs?: number
  /** Told when something changed or went wrong, and not otherwise. */
  readonly onRefreshed: (refreshed: Refreshed) => void
}

// A rotated token is usually valid beside the old one for minutes.
const EVERY_MS = 30_000

/** Reads the files again and again; returns the way to stop. */
export function watchSecrets(files: SecretFiles, watch: Watch): () => void {
  const { clock, everyMs = EVERY_MS, onRefreshed } = watch
  let stopped = false
  async function look(): Promise<void> {
    const refreshed = await files.refresh()
    if (stopped) return
    if (refreshed.changed.length + refreshed.problems.length > 0) onRefreshed(refreshed)
    timer = clock.after(everyMs, () => void look())
  }
  let timer = clock.after(everyMs, () => void look())
  return () => {
    stopped = true
    timer.cancel()
  }
}
