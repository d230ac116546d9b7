/**
 * The command line as a person runs it: a process of its own, built before the tests. A hub is one
 * that goes on; it says where it listens, and is ended by the signal that Ctrl-C sends.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { fillMigrated } from '@chimera/store/testing/embedded'

export type Ran = { readonly status: number | null; readonly out: string; readonly err: string }

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const READY = /ready on (http:\S+?)(?:,|\s)/
const OPERATOR = /^(chm_operator_\S+)\n/m

export type Surroundings = Readonly<Record<string, string>>

/** Nothing of the settings of whoever runs the tests; a folder without a settings file. */
function start(words: readonly string[], surroundings: Surroundings): ChildProcess {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('CHIMERA_'))
  return spawn(process.execPath, [MAIN, ...words], {
    cwd: ROOT,
    env: { ...Object.fromEntries(inherited), ...surroundings },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

export function chimera(words: readonly string[], surroundings: Surroundings = {}): Promise<Ran> {
  return finished(start(words, surroundings))
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
