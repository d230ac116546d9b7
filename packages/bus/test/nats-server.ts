/**
 * A real nats-server for the tests of one file: on loopback, on a free port that it keeps over
 * restarts, with its files in a folder that is thrown away. A watcher stops it when the process
 * that started it is killed.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

export type NatsServer = {
  readonly port: number
  readonly address: string
  /** Its folder, for what a configuration refers to. */
  readonly home: string
  /** By default as hard as it gets: what the server had not written is lost. */
  readonly kill: (signal?: NodeJS.Signals) => Promise<void>
  readonly start: () => Promise<void>
  readonly stop: () => Promise<void>
}

export type NatsServerOptions = {
  /** Further lines of its configuration. */
  readonly config?: (home: string) => string | Promise<string>
}

// Debian puts it where the path of an ordinary user does not lead.
const env = { ...process.env, PATH: [process.env.PATH, '/usr/sbin'].join(delimiter) }

export async function startNats({ config }: NatsServerOptions = {}): Promise<NatsServer> {
  if (spawnSync('nats-server', ['--version'], { env }).error) {
    throw new Error(
      'nats-server is not installed. Debian, Ubuntu: apt-get install nats-server; ' +
        'macOS: brew install nats-server; elsewhere: a release of nats-io/nats-server.',
    )
  }
  const home = await mkdtemp(join(tmpdir(), 'chimera-nats-'))
  const port = await freePort()
  const file = join(home, 'nats.conf')
  const store = `jetstream { store_dir: ${JSON.stringify(join(home, 'streams'))} }`
  await writeFile(
    file,
    [`listen: "127.0.0.1:${port}"`, store, (await config?.(home)) ?? ''].join('\n'),
  )
  let running: { server: ChildProcess; endWatch: () => void } | undefined

  async function start(): Promise<void> {
    const server = spawn('nats-server', ['-c', file], { env, stdio: ['ignore', 'ignore', 'pipe'] })
    await ready(server)
    running = { server, endWatch: watch(server.pid ?? 0) }
  }

  async function kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (running === undefined) return
    const { server, endWatch } = running
    running = undefined
    const ended = new Promise((resolve) => server.once('exit', resolve))
    server.kill(signal)
    await ended
    endWatch()
  }

  await start()
  return {
    port,
    address: `nats://127.0.0.1:${port}`,
    home,
    kill,
    start,
    stop: async () => {
      await kill()
      await rm(home, { recursive: true, force: true })
    },
  }
}

/** It says so itself; if it ends before that, what it said is the error. */
function ready(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = ''
    server.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said += said.length < 100_000 ? text : ''
      if (said.includes('Server is ready')) resolve()
    })
    server.once('error', reject)
    server.once('exit', () => reject(new Error(`nats-server did not start:\n${said}`)))
  })
}

async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const address = probe.address()
  await new Promise((resolve) => probe.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no free port')
  return address.port
}

/** Its input ends when this process does, however that happens. */
function watch(pid: number): () => void {
  const script = `process.stdin.resume().on('end', () => {
    try { process.kill(${pid}, 'SIGKILL') } catch {}
  })`
  const watcher = spawn(process.execPath, ['-e', script], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  watcher.unref()
  return () => watcher.kill('SIGKILL')
}
