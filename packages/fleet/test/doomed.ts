/**
 * A program that is killed again and again while a test looks on: started with a way to die at the
 * n-th thing that happens to it (dying.js), and started again on the same data.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

export type Doomed = {
  readonly name: string
  /** Resolves when it says that it is ready. */
  readonly start: () => Promise<void>
  /** Resolves when it is dead, by its own hand. */
  readonly dieAfter: (order: { readonly after: number; readonly turns: number }) => Promise<void>
  /** Everything that it has said in all its lives. */
  readonly said: () => string
  readonly stop: () => Promise<void>
}

// Who ends soon never earns back what it costs to optimise the embedded database.
const SHORT_LIVED = '--liftoff-only'
const DYING = new URL('dying.js', import.meta.url).href

export function createDoomed(
  name: string,
  args: readonly string[],
  { cwd, ready }: { readonly cwd: string; readonly ready: RegExp },
): Doomed {
  const inherited = Object.entries(process.env).filter(([key]) => !key.startsWith('CHIMERA_'))
  let child: ChildProcess | undefined
  let ended: Promise<unknown> = Promise.resolve()
  let said = ''

  return {
    name,
    said: () => said,
    start() {
      const born = spawn(process.execPath, [SHORT_LIVED, '--import', DYING, ...args], {
        cwd,
        env: Object.fromEntries(inherited),
        stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      })
      child = born
      ended = once(born, 'exit')
      let heard = ''
      return new Promise((resolve, reject) => {
        for (const stream of [born.stdout, born.stderr]) {
          stream?.setEncoding('utf8').on('data', (text: string) => {
            said += text
            heard += text
            if (ready.test(heard)) resolve()
          })
        }
        born.on('exit', () => reject(new Error(`${name} ended before it was ready: ${heard}`)))
      })
    },
    async dieAfter(order) {
      const gone = ended
      child?.send(order)
      await gone
    },
    async stop() {
      if (child?.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGTERM')
      await ended
    },
  }
}
