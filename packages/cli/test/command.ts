/**
 * The command line as a person runs it: a process of its own, built before the tests. A hub is one
 * that goes on; it says where it listens, and is ended by the signal that Ctrl-C sends.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fillMigrated } from '@chimera/store/testing/embedded'

export type Ran = { readonly status: number | null; readonly out: string; readonly err: string }

/** What is started. */
export const MAIN = fileURLToPath(new URL('../dist/bundle/main.js', import.meta.url))
// Who ends soon never earns back what it costs to optimise the embedded database.
const SHORT_LIVED = '--liftoff-only'
const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const READY = /ready on (http:\S+?)(?:,|\s)/
const OPERATOR = /^(chm_operator_\S+)\n/m

export type Surroundings = Readonly<Record<string, string>>

/** Nothing of the settings of whoever runs the tests; a folder without a settings file. */
function start(
  words: readonly string[],
  surroundings: Surroundings,
  { cwd = ROOT, input }: Given = {},
): ChildProcess {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('CHIMERA_'))
  const child = spawn(process.execPath, [SHORT_LIVED, MAIN, ...words], {
    cwd,
    env: { ...Object.fromEntries(inherited), ...surroundings },
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  })
  child.stdin?.end(input)
  return child
}

/** Where it is started, and what is on its standard input. */
export type Given = { readonly cwd?: string; readonly input?: string }

export function chimera(
  words: readonly string[],
  surroundings: Surroundings = {},
  given: Given = {},
): Promise<Ran> {
  return finished(start(words, surroundings, given))
}

/** One that goes on until it is told to stop, and what it says meanwhile. */
export type Going = {
  /** What both streams have said so far, where it fits, as soon as it does. */
  readonly says: (what: RegExp) => Promise<RegExpExecArray>
  readonly signal: (signal: NodeJS.Signals) => void
  readonly ended: Promise<Ran>
}

export function startChimera(
  words: readonly string[],
  surroundings: Surroundings,
  cwd: string,
): Going {
  const child = start(words, surroundings, { cwd })
  const ended = finished(child)
  let heard = ''
  const hearers = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (text) => {
      heard += String(text)
      for (const hear of hearers) hear()
    })
  }
  return {
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
    signal: (signal) => void child.kill(signal),
    ended,
  }
}

/** A folder of an author's, with our packages installed as they are built. */
export async function writeProject(folder: string, files: Surroundings): Promise<void> {
  await mkdir(join(folder, 'node_modules'), { recursive: true })
  for (const name of ['@chimera', 'tsx']) {
    await symlink(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name))
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
}

export type HubProcess = {
  readonly address: string
  /** Where the hub has made one; else it does not come. */
  readonly operatorToken: Promise<string>
  readonly stop: () => Promise<Ran>
  /** As if the machine had died under it. */
  readonly kill: () => Promise<Ran>
}

/** A first start makes its database in seconds; unless that is looked at, it finds one made. */
export async function startHubProcess(
  words: readonly string[],
  { fromNothing = false }: { readonly fromNothing?: boolean } = {},
): Promise<HubProcess> {
  const data = words[words.indexOf('--data') + 1]
  if (words.includes('--data') && data !== undefined && !fromNothing) await fillMigrated(data)
  const child = start(['hub', ...words], {})
  const ended = finished(child)
  const operatorToken = new Promise<string>((resolve) => {
    let heard = ''
    child.stderr?.on('data', (text) => {
      heard += String(text)
      const [, token] = OPERATOR.exec(heard) ?? []
      if (token !== undefined) resolve(token)
    })
  })
  const address = await new Promise<string>((resolve, reject) => {
    let heard = ''
    child.stderr?.on('data', (text) => {
      heard += String(text)
      const [, where] = READY.exec(heard) ?? []
      if (where !== undefined) resolve(where)
    })
    void ended.then(({ err }) => reject(new Error(`the hub ended: ${err}`)))
  })
  return {
    address,
    operatorToken,
    stop: () => {
      child.kill('SIGTERM')
      return ended
    },
    kill: () => {
      child.kill('SIGKILL')
      return ended
    },
  }
}

function finished(child: ChildProcess): Promise<Ran> {
  const heard = { out: '', err: '' }
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    heard.out += text
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    heard.err += text
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (status) => resolve({ status, ...heard }))
  })
}
