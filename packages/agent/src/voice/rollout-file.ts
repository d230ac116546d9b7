/**
 * How far the roll-out of the status feed has come, kept over restarts (SF-13): what trouble or an
 * order switched off is not switched on by starting again, and the 48 hours of a canary go on.
 *
 *   R1  What is kept holds as long as the settings say what they said then. Who changes them has
 *       decided anew.
 *   R2  A file that cannot be read counts as none, and the settings hold. The window of failures is
 *       not kept: after a restart it is counted afresh.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { Rollout } from '@chimera/domain/voice/rollout'

export type RolloutKeep = {
  readonly load: () => Rollout | undefined
  /** Throws where it cannot be written. */
  readonly save: (rollout: Rollout) => void
}

/** `settings` is whatever tells one choice of the operator from another. */
export function openRolloutFile(path: string, settings: string): RolloutKeep {
  return {
    load: () => {
      const { stage, resumes, since, settings: then } = readFields(path)
      if (then !== settings || typeof since !== 'number') return undefined
      if (stage !== 'off' && stage !== 'canary' && stage !== 'everybody') return undefined
      if (resumes !== 'canary' && resumes !== 'everybody') return undefined
      return { stage, resumes, since, buckets: [] }
    },
    save: ({ stage, resumes, since }) => {
      // It appears whole or not at all; of several copies of one agent the last one counts.
      const draft = `${path}.${process.pid}`
      const text = `${JSON.stringify({ stage, resumes, since, settings })}\n`
      writeFileSync(draft, text, { mode: 0o600 })
      renameSync(draft, path)
    },
  }
}

function readFields(path: string): Readonly<Record<string, unknown>> {
  try {
    const read: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return typeof read === 'object' && read !== null ? { ...read } : {}
  } catch {
    return {}
  }
}
