/**
 * One process at a time in a data directory. The embedded database takes no lock itself, and a
 * second process would lose writes silently.
 *
 * The lock is a file `lock.<n>`; the highest number counts, and names its holder. Node has no lock
 * that ends with its process, so a dead holder is recognised and followed by `lock.<n + 1>`.
 *
 *   K1  A number is taken by making its file, which only one of several can do.
 *   K2  The highest file is never removed, only marked as given back. So numbers never run back,
 *       and whoever looked too long ago finds its number taken or outnumbered.
 *   K3  A process is known by its number and its birth, since numbers are used again; after the
 *       restart of a container mostly by a process of the same kind.
 */
import { link, mkdir, readdir, readFile, rename, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure } from '../failure.ts'

type Holder = { readonly pid: number; readonly birth?: string }

export type DirectoryLock = { readonly release: () => Promise<void> }

const NAME = /^lock\.(\d{1,12})$/
const FREE: Holder = { pid: 0 }
// Each round is lost to somebody who got further, so a few are enough to see who that is.
const ROUNDS = 5

export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    for (let round = 0; round < ROUNDS; round += 1) {
      const taken = await tryLock(directory)
      if (taken !== undefined) return taken
    }
  } catch (cause) {
    if (cause instanceof Failure) throw cause
    throw new Failure('directory_unusable', directory, { cause })
  }
  throw new Failure('directory_locked', `${directory}: others open it at this moment`)
}

async function tryLock(directory: string): Promise<DirectoryLock | undefined> {
  const highest = Math.max(0, ...(await numbersIn(directory)))
  const holder = highest === 0 ? FREE : await holderOf(join(directory, `lock.${highest}`))
  if (holder === undefined) return undefined
  if (await isAlive(holder)) {
    throw new Failure('directory_locked', `${directory} is held by process ${holder.pid}`)
  }
  const mine = join(directory, `lock.${highest + 1}`)
  const self: Holder = { pid: process.pid, ...(await birthOf(process.pid)) }
  if (!(await make(mine, self))) return undefined
  const numbers = await numbersIn(directory)
  if (numbers.some((each) => each > highest + 1)) {
    await drop(mine)
    return undefined
  }
  for (const each of numbers) if (each <= highest) await drop(join(directory, `lock.${each}`))
  return { release: () => giveBack(mine) }
}

async function numbersIn(directory: string): Promise<readonly number[]> {
  const names = await readdir(directory)
  return names.flatMap((name) => {
    const [, number] = NAME.exec(name) ?? []
    return number === undefined ? [] : [Number(number)]
  })
}

/** Nobody when the file is gone: then a higher one is there. */
async function holderOf(path: string): Promise<Holder | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'))
    if (typeof value !== 'object' || value === null || !('pid' in value)) return FREE
    const birth = 'birth' in value && typeof value.birth === 'string' ? value.birth : undefined
    return { pid: Number(value.pid), ...(birth === undefined ? {} : { birth }) }
  } catch (cause) {
    if (isCode(cause, 'ENOENT')) return undefined
    if (cause instanceof SyntaxError) return FREE
    throw cause
  }
}

/** The file appears with its content, so that nobody reads half of it. */
async function make(path: string, holder: Holder): Promise<boolean> {
  const draft = `${path}.${process.pid}`
  await writeFile(draft, JSON.stringify(holder), { mode: 0o600 })
  try {
    await link(draft, path)
    return true
  } catch (cause) {
    // The draft is gone when this process tries twice at once, and the other try was quicker.
    if (isCode(cause, 'EEXIST') || isCode(cause, 'ENOENT')) return false
    throw cause
  } finally {
    await drop(draft)
  }
}

async function giveBack(path: string): Promise<void> {
  const draft = `${path}.${process.pid}`
  await writeFile(draft, JSON.stringify(FREE), { mode: 0o600 })
  await rename(draft, path)
}

async function drop(path: string): Promise<void> {
  try {
    await unlink(path)
  } catch (cause) {
    if (!isCode(cause, 'ENOENT')) throw cause
  }
}

async function isAlive({ pid, birth }: Holder): Promise<boolean> {
  if (!Number.isSafeInteger(pid) || pid < 1) return false
  try {
    process.kill(pid, 0)
  } catch (cause) {
    // A process of another user may not be signalled, but it is there.
    if (!isCode(cause, 'EPERM')) return false
  }
  const now = await birthOf(pid)
  return birth === undefined || now.birth === undefined || now.birth === birth
}

/** When it began, in the terms of this boot; known on Linux only. */
async function birthOf(pid: number): Promise<{ readonly birth?: string }> {
  try {
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8')
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
    // The second field is a name in brackets and may hold anything; the 22nd is the start.
    const start = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
    return start === undefined ? {} : { birth: `${boot.trim()}:${start}` }
  } catch {
    return {}
  }
}

const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code
