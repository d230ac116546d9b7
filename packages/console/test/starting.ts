/**
 * What `npm start` runs once everything is installed: the command of the root's package.json, as a
 * process of its own, in a folder of its own.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/** The last of the script's commands; those before it install what is missing. */
function startWords(): readonly string[] {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const [, ...words] = String(scripts.start).split(' && ').at(-1)?.split(' ') ?? []
  // From another folder, so what is found from the root is named in full.
  return words.map((word) => (existsSync(join(ROOT, word)) ? join(ROOT, word) : word))
}

export type Started = {
  /** What both streams have said, as soon as it fits. */
  readonly says: (what: RegExp) => Promise<RegExpExecArray>
  readonly signal: (signal: NodeJS.Signals) => void
  readonly ended: Promise<{ readonly status: number | null; readonly heard: string }>
}

/** `npm start -- …words`; without any it goes on until it is told to stop. */
export function npmStart(words: readonly string[], cwd: string): Started {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('CHIMERA_'))
  const env = { ...Object.fromEntries(inherited), npm_lifecycle_event: 'start' }
  const child: ChildProcess = spawn(process.execPath, [...startWords(), ...words], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let heard = ''
  const hearers = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      heard += text
      for (const hear of hearers) hear()
    })
  }
  const ended: Started['ended'] = new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (status) => resolve({ status, heard }))
  })
  return {
    ended,
    signal: (signal) => void child.kill(signal),
    says: (what) =>
      new Promise((resolve, reject) => {
        const hear = (): void => {
          const found = what.exec(heard)
          if (found === null) return
          hearers.delete(hear)
          resolve(found)
        }
        hearers.add(hear)
        void ended.then(({ status }) => reject(new Error(`it ended with ${status}: ${heard}`)))
        hear()
      }),
  }
}
