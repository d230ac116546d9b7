/**
 * A PostgreSQL of the system's packages for one benchmark, as it is installed: it waits for the
 * disk at every commit. Its data is made anew and thrown away.
 *
 * The server refuses to run as root, so as root it runs as the user that its package made.
 */
import { execFileSync, type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

export type Server = {
  /** Makes a database and answers its address. */
  readonly create: (database: string) => string
  readonly run: (database: string, sql: string) => void
  /** Fills a database for pgbench, of so many times 100 000 accounts. */
  readonly fillBench: (database: string, scale: number) => void
  /** Transactions per second of its own script, which is like TPC-B. */
  readonly bench: (database: string, wanted: BenchWanted) => Promise<number>
  readonly stop: () => Promise<void>
}

export type BenchWanted = { readonly clients: number; readonly seconds: number }

const PROGRAMS = ['initdb', 'postgres', 'psql', 'pgbench'] as const
const USER = 'chimera'
// Room for the tables of both sides that are written, and no checkpoint in every round.
const SETTINGS = { shared_buffers: '512MB', max_wal_size: '4GB', max_connections: '100' }

export async function startServer(): Promise<Server> {
  const bin = findPrograms()
  const as = userOfServer()
  const home = mkdtempSync(join(tmpdir(), 'chimera-bench-'))
  chmodSync(home, 0o755)
  const data = join(home, 'data')
  mkdirSync(data, { mode: 0o700 })
  if (as.uid !== undefined && as.gid !== undefined) chownSync(data, as.uid, as.gid)
  const made = ['-U', USER, '--auth=trust', '--encoding=UTF8', '--locale=C']
  execFileSync(join(bin, 'initdb'), ['-D', data, ...made], { ...as, cwd: data, stdio: 'pipe' })

  const port = await freePort()
  const settings = { ...SETTINGS, listen_addresses: '127.0.0.1', unix_socket_directories: data }
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const server = spawn(join(bin, 'postgres'), ['-D', data, '-p', String(port), ...flags], {
    ...as,
    cwd: data,
  })
  await new Promise<void>((resolve, reject) => {
    let said = ''
    server.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text
      if (said.includes('ready to accept connections')) resolve()
    })
    server.once('error', reject)
    server.once('exit', () => reject(new Error(`PostgreSQL did not start:\n${said}`)))
  })
  const endWatch = watch(server.pid ?? 0)

  const there = ['-h', '127.0.0.1', '-p', String(port), '-U', USER]
  const psql = (database: string, sql: string) => {
    checked(spawnSync(join(bin, 'psql'), [...there, '-q', '-d', database, '-c', sql]))
  }
  return {
    create(database) {
      psql('postgres', `CREATE DATABASE ${database}`)
      return `postgres://${USER}@127.0.0.1:${port}/${database}`
    },
    run: psql,
    fillBench(database, scale) {
      checked(
        spawnSync(join(bin, 'pgbench'), [...there, '-i', '-q', '-s', String(scale), database]),
      )
    },
    bench: (database, { clients, seconds }) => {
      const load = ['-M', 'prepared', '-c', String(clients), '-j', '2', '-T', String(seconds)]
      return rateOf(join(bin, 'pgbench'), [...there, ...load, '-n', database])
    },
    async stop() {
      const ended = new Promise((resolve) => server.once('exit', resolve))
      server.kill('SIGINT')
      await ended
      endWatch()
      rmSync(home, { recursive: true, force: true })
    },
  }
}

/** Of the newest version that has all of them. */
function findPrograms(): string {
  const root = '/usr/lib/postgresql'
  const versions = existsSync(root) ? readdirSync(root) : []
  const newest = versions.sort((one, other) => Number(other) - Number(one))
  const folders = [
    ...newest.map((version) => join(root, version, 'bin')),
    ...(process.env.PATH ?? '').split(delimiter),
  ]
  const found = folders.find((folder) => PROGRAMS.every((name) => existsSync(join(folder, name))))
  if (found !== undefined) return found
  throw new Error(
    `No folder of ${root}/*/bin and the PATH has all of ${PROGRAMS.join(', ')}. ` +
      'Install the PostgreSQL server of your system, on Debian: apt-get install postgresql',
  )
}

type As = { readonly uid?: number; readonly gid?: number }

function userOfServer(): As {
  if (process.getuid?.() !== 0) return {}
  for (const name of ['postgres', 'nobody']) {
    const uid = spawnSync('id', ['-u', name], { encoding: 'utf8' })
    const gid = spawnSync('id', ['-g', name], { encoding: 'utf8' })
    if (uid.status === 0 && gid.status === 0) {
      return { uid: Number(uid.stdout), gid: Number(gid.stdout) }
    }
  }
  throw new Error('PostgreSQL does not run as root, and there is no user postgres or nobody.')
}

function checked({ status, stderr, error }: SpawnSyncReturns<Buffer>): void {
  if (error !== undefined) throw error
  if (status !== 0) throw new Error(stderr.toString())
}

async function rateOf(program: string, args: readonly string[]): Promise<number> {
  const child = spawn(program, args)
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  await new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  const [, rate] = /^tps = ([\d.]+)/m.exec(said) ?? []
  if (rate === undefined) throw new Error(`pgbench said no rate:\n${said}`)
  return Number(rate)
}

async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const address = probe.address()
  await new Promise((resolve) => probe.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no free port')
  return address.port
}

/** Its input ends when this process does, however that happens, and the server with it. */
function watch(pid: number): () => void {
  const watcher = spawn('sh', ['-c', `read line; kill -QUIT ${pid}`], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  watcher.unref()
  return () => watcher.kill('SIGKILL')
}
