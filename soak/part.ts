/**
 * A part of the network in a process of its own, so that its memory is its own: told what to do by
 * whoever started it, and ended with it.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { writeHeapSnapshot } from 'node:v8'
import { createGauge, type Gauged } from './gauge.ts'

export type Part = {
  readonly name: string
  readonly ask: <Answer>(verb: string, told?: unknown) => Promise<Answer>
  readonly gauge: () => Promise<Gauged>
  readonly close: () => Promise<void>
}

type Asked = { readonly id: number; readonly verb: string; readonly told?: unknown }
type Answered = { readonly id: number; readonly answer?: unknown; readonly error?: string }

// As `npm start` has it, but for the last.
const SOURCES = ['--import', 'tsx', '--conditions=chimera-source', '--max-semi-space-size=64']
const OPTIONS = [...SOURCES, '--expose-gc']

export function startPart(name: string, module: URL, more: readonly string[] = []): Part {
  const child = fork(fileURLToPath(module), { execArgv: [...OPTIONS, ...more] })
  const waiting = new Map<number, (answered: Answered) => void>()
  let last = 0
  child.on('message', (answered: Answered) => {
    waiting.get(answered.id)?.(answered)
    waiting.delete(answered.id)
  })
  child.once('exit', (code) => {
    for (const [id, tell] of waiting) tell({ id, error: `${name} ended with ${code}` })
    waiting.clear()
  })
  function ask<Answer>(verb: string, told?: unknown): Promise<Answer> {
    last += 1
    const id = last
    return new Promise<Answer>((resolve, reject) => {
      if (!child.connected) return reject(new Error(`${name} has ended`))
      waiting.set(id, ({ answer, error }) => {
        if (error === undefined) resolve(answer as Answer)
        else reject(new Error(`${name}: ${error}`))
      })
      child.send({ id, verb, told } satisfies Asked)
    })
  }
  return {
    name,
    ask,
    gauge: () => ask('gauge'),
    async close() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}

export type Verbs = Readonly<Record<string, (told: never) => unknown>>

/** In the process: does what it is told, and `end` before it ends with whoever started it. */
export function serve(verbs: Verbs, end: () => Promise<unknown>): void {
  const snapshot = (path: string): string => writeHeapSnapshot(path)
  const all: Verbs = { ...verbs, gauge: createGauge(), snapshot }
  const answer = async ({ id, verb, told }: Asked): Promise<void> => {
    const done = await perform(all, verb, told)
    process.send?.({ id, ...done } satisfies Answered)
  }
  process.on('message', (asked: Asked) => void answer(asked))
  // Ctrl-C reaches all of them; whoever started this one says when it ends.
  process.on('SIGINT', () => undefined)
  process.once('disconnect', () => void end().finally(() => process.exit()))
}

async function perform(verbs: Verbs, verb: string, told: unknown): Promise<Omit<Answered, 'id'>> {
  try {
    return { answer: await verbs[verb]?.(told as never) }
  } catch (error) {
    return { error: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}
