/**
 * Why a command did not do what it was asked for, and what to do next.
 *
 *   R1  Exit status 2 is for words that make no sense: nothing was tried. 1 is for everything that
 *       was tried and did not work, and for a check that found something. A verb whose failures
 *       differ in what a script does next has higher ones, and lists them in its help.
 *   R2  What is said names what to do next, wherever that is known. No secret is shown.
 */
import { redactText } from '@chimera/host/redact'
import { Failure, type FailureCode } from '@chimera/store/failure'
import { CommanderError } from 'commander'

export const FAILED = 1
export const MISUSED = 2

export class Trouble extends Error {
  readonly status: number

  constructor(lines: string | readonly string[], status: number = FAILED) {
    super([lines].flat().join('\n'))
    this.name = 'Trouble'
    this.status = status
  }
}

// biome-ignore format: a table is read by its columns
const NEXT: Partial<Readonly<Record<FailureCode, string>>> = {
  directory_locked:     'Stop the hub that runs there, or name another directory with --data.',
  directory_unusable:   'Look at its owner and its rights, or name another directory with --data.',
  database_unreachable: 'Is the server running, and is --database its address? `chimera doctor` looks.',
  schema_missing:       '`chimera store migrate` brings it up to date; so does starting a hub.',
  schema_newer:         'Run the version that migrated it, or a newer one.',
  backup_malformed:     'Nothing was changed. Take another copy of this backup, or an older backup.',
  restore_refused:      'Name an empty directory with --data, or an empty database with --database.',
}

/** Prints it for people and sets the exit status. */
export function tell(error: unknown): void {
  if (error instanceof CommanderError) {
    // It has printed what it has to say, a help text included.
    process.exitCode = error.exitCode === 0 ? 0 : MISUSED
    return
  }
  console.error(explain(error))
  process.exitCode = error instanceof Trouble ? error.status : FAILED
}

export function explain(error: unknown): string {
  if (error instanceof Failure) {
    const { message, detail, code } = error
    // Paths and hosts are the user's own.
    const shown = redactText(detail, { showInside: true })
    return [message, shown, NEXT[code]].filter((line) => line !== undefined).join('\n')
  }
  if (!(error instanceof Error)) return String(error)
  if (codeOf(error) === 'EADDRINUSE') {
    const next = 'Name another address with --listen; `chimera doctor` says who answers there.'
    return `${error.message}\n${next}`
  }
  return redactText(error.message, { showInside: true })
}

export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}
