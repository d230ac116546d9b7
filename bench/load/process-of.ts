/** A process that runs a module of the benchmarks, so that its time on a core is its own. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export type BenchProcess = {
  /** Sends something and answers with what comes back; one at a time. */
  readonly ask: <Answer>(told: unknown) => Promise<Answer>
  /** Seconds that all its threads have been on a core. */
  readonly cpuSeconds: () => Promise<number>
  readonly close: () => Promise<void>
}

/** What every such module answers by itself. */
const CPU = 'cpu'

const OPTIONS = ['--import', 'tsx', '--conditions=chimera-testing', '--max-semi-space-size=64']

export async function processOf(module: URL, more: readonly string[] = []): Promise<BenchProcess> {
  const child = fork(fileURLToPath(module), {
    execArgv: [...OPTIONS, ...more],
    serialization: 'advanced',
  })
  await heardFrom(child)
  const ask = async <Answer>(told: unknown): Promise<Answer> => {
    const answer = heardFrom(child)
    child.send(told as object)
    return (await answer) as Answer
  }
  return {
    ask,
    cpuSeconds: () => ask(CPU),
    async close() {
      if (child.exitCode !== null) return
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}

async function heardFrom(child: ChildProcess): Promise<unknown> {
  const ending = new AbortController()
  const { signal } = ending
  try {
    return await Promise.race([
      once(child, 'message', { signal }).then(([message]) => message),
      once(child, 'exit', { signal }).then(([code]) => {
        throw new Error(`a process of the benchmark ended with ${code}`)
      }),
    ])
  } finally {
    ending.abort()
  }
}

/** In the process: answers what it is asked, and ends with whoever asks. */
export function answerIn<Told>(answer: (told: Told) => unknown): void {
  const reply = async (told: unknown): Promise<void> => {
    process.send?.(told === CPU ? cpuSeconds() : ((await answer(told as Told)) ?? 'done'))
  }
  process.on('message', (told: unknown) => void reply(told))
  process.once('disconnect', () => process.exit())
  process.send?.('ready')
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}
