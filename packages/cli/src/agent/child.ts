/**
 * One process that runs the skill file, seen from the command.
 *
 *   D1  Each order is answered once: by what was asked for, or by why not. A process that ends
 *       without a word has answered, too.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { FromRunner, Started, ToRunner, Wanted } from './messages.ts'

/** It cannot be run; what was wrong is said already where there are no lines. */
export type Failed = {
  readonly ok: false
  readonly lines: readonly string[]
  readonly misused: boolean
}

export type RunnerProcess = {
  readonly load: (wanted: Wanted) => Promise<{ readonly ok: true } | Failed>
  readonly start: (
    port: number | undefined,
  ) => Promise<{ readonly ok: true; readonly started: Started } | Failed>
  /** What could not be closed in time. */
  readonly stop: (reason: string) => Promise<readonly string[]>
  readonly kill: () => void
  /** How it ended; undefined for the end that was asked for. */
  readonly ended: Promise<string | undefined>
}

type Heard = Extract<FromRunner, { say: 'imports' | 'work' | 'registered' }>

const HEARD: readonly FromRunner['say'][] = ['imports', 'work', 'registered']
const isHeard = (message: FromRunner): message is Heard => HEARD.includes(message.say)

const HERE = import.meta.url
const IS_SOURCE = HERE.endsWith('.ts')
const RUNNER = fileURLToPath(new URL(IS_SOURCE ? 'skills-worker.ts' : 'skills-worker.js', HERE))
const TYPED = /\.[cm]?tsx?$/

export function spawnRunner(file: string, hear: (message: Heard) => void): RunnerProcess {
  const loader = ['--import', import.meta.resolve('tsx')]
  const child: ChildProcess = spawn(
    process.execPath,
    [
      ...(IS_SOURCE || TYPED.test(file) ? loader : []),
      ...(IS_SOURCE ? ['--conditions=chimera-source'] : []),
      RUNNER,
    ],
    // What the file prints are words: data is on our own standard output alone.
    { stdio: ['ignore', 2, 2, 'ipc'] },
  )
  let failed: Failed | undefined
  let stopped: readonly string[] | undefined
  let answer: ((message: FromRunner | undefined) => void) | undefined

  child.on('message', (message: FromRunner) => {
    if (isHeard(message)) return hear(message)
    if (message.say === 'failed') {
      failed = { ok: false, lines: message.lines, misused: message.misused }
    }
    if (message.say === 'stopped') stopped = message.notClosed
    answer?.(message)
  })
  const ended = new Promise<string | undefined>((resolve) => {
    child.on('error', (error) => resolve(error.message))
    child.on('exit', (status, signal) => {
      if (stopped !== undefined || failed !== undefined) resolve(undefined)
      else resolve(signal === null ? `with status ${status}` : `by ${signal}`)
    })
  })
  void ended.then(() => answer?.(undefined))

  /** D1. */
  async function order(message: ToRunner): Promise<FromRunner | undefined> {
    const came = new Promise<FromRunner | undefined>((resolve) => {
      answer = resolve
    })
    if (!child.connected) return undefined
    child.send(message)
    return Promise.race([came, ended.then(() => undefined)])
  }
  const whyNot = async (): Promise<Failed> =>
    failed ?? { ok: false, lines: [`It ended ${(await ended) ?? 'at once'}.`], misused: false }

  return {
    async load(wanted) {
      const came = await order({ say: 'load', file, wanted })
      return came?.say === 'loaded' ? { ok: true } : whyNot()
    },
    async start(port) {
      const came = await order({ say: 'start', ...(port !== undefined && { port }) })
      return came?.say === 'started' ? { ok: true, started: came.started } : whyNot()
    },
    async stop(reason) {
      await order({ say: 'stop', reason })
      await ended
      return stopped ?? []
    },
    kill: () => child.kill('SIGKILL'),
    ended,
  }
}
