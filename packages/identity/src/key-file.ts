/**
 * A private key kept in a file, as a JWK.
 *
 *   L1  The file has mode 0600 from its first byte on; a directory that is made for it has 0700.
 *   L2  A file that group or others can touch is not read: that key is no longer a secret.
 *   L3  A key file appears whole or not at all and is never overwritten. Of several processes that
 *       create it at once, one wins and all of them use its key. Rotating puts another key in its
 *       place in one step, after the old one has got a name of its own.
 *   L4  Where the platform has no POSIX modes, `guarded` is false: L1 and L2 then rest on the
 *       directory's own access list, and the caller should say so to the operator.
 */
import { randomUUID } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { type FileHandle, link, mkdir, open, rename, stat, unlink } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { Failure } from './failure.ts'
import { generateKeyPair, type KeyPair, keyPairFromJwk, privateJwk, type Random } from './keys.ts'

export type KeyFileOptions = {
  readonly random?: Random
  /** The platform that is assumed, as in `process.platform`. */
  readonly platform?: NodeJS.Platform
}

export type KeptKey = {
  readonly pair: KeyPair
  readonly created: boolean
  /** Whether the file's modes could be checked (L4). */
  readonly guarded: boolean
}

// A JWK of an Ed25519 key has some 160 bytes; a much larger file is something else.
const MOST_BYTES = 4_096
const OTHERS_ANYTHING = 0o077
const OTHERS_WRITE = 0o022

export async function loadKeyFile(path: string, options: KeyFileOptions = {}): Promise<KeptKey> {
  const guarded = hasModes(options)
  const file = await openForReading(path)
  try {
    // The open file is looked at, not the path: what is checked is what is read.
    const facts = await file.stat()
    if (guarded) checkModes(path, facts, await stat(dirname(path)))
    return { pair: await readPair(file, facts, path), created: false, guarded }
  } finally {
    await file.close()
  }
}

export async function createKeyFile(
  path: string,
  pair: KeyPair,
  options: KeyFileOptions = {},
): Promise<KeptKey> {
  const guarded = hasModes(options)
  const directory = dirname(path)
  // The draft's name is thrown away, so its chance need not be handed in.
  const draft = join(directory, `.${basename(path)}.${randomUUID()}`)
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    if (guarded) checkDirectory(path, await stat(directory))
    await writeDraft(draft, `${JSON.stringify(privateJwk(pair))}\n`)
    await publish(draft, path)
    if (guarded) await settle(directory)
  } catch (cause) {
    throw cause instanceof Failure ? cause : new Failure('key_file_unwritable', path, cause)
  }
  return { pair, created: true, guarded }
}

export async function loadOrCreateKeyFile(
  path: string,
  options: KeyFileOptions = {},
): Promise<KeptKey> {
  try {
    return await loadKeyFile(path, options)
  } catch (cause) {
    if (!isFailure(cause, 'key_file_missing')) throw cause
  }
  try {
    return await createKeyFile(path, generateKeyPair(options.random), options)
  } catch (cause) {
    // Somebody was faster: theirs is the key.
    if (!isFailure(cause, 'key_file_exists')) throw cause
    return loadKeyFile(path, options)
  }
}

export type RotatedKey = {
  readonly old: KeyPair
  readonly next: KeyPair
  /** Where the old key is now. */
  readonly retired: string
}

/** A new key under the same path. The old file is kept under the first letters of its key's id. */
export async function rotateKeyFile(
  path: string,
  options: KeyFileOptions = {},
): Promise<RotatedKey> {
  const { pair: old } = await loadKeyFile(path, options)
  const extension = extname(path)
  const name = basename(path, extension)
  const retired = join(dirname(path), `${name}-${old.id.slice(0, 8)}${extension}`)
  const draft = join(dirname(path), `.${basename(path)}.${randomUUID()}`)
  const { pair: next } = await createKeyFile(draft, generateKeyPair(options.random), options)
  try {
    await retire(path, retired)
    await rename(draft, path)
    if (hasModes(options)) await settle(dirname(path))
  } catch (cause) {
    await unlink(draft).catch(() => undefined)
    throw cause instanceof Failure ? cause : new Failure('key_file_unwritable', path, cause)
  }
  return { old, next, retired }
}

/** A rotation that broke off may have named it already. */
async function retire(path: string, retired: string): Promise<void> {
  try {
    await link(path, retired)
  } catch (cause) {
    if (!isCode(cause, 'EEXIST')) throw cause
    const [file, other] = await Promise.all([stat(path), stat(retired)])
    if (file.ino !== other.ino) throw new Failure('key_file_exists', retired, cause)
  }
}

async function openForReading(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r')
  } catch (cause) {
    const missing = isCode(cause, 'ENOENT')
    throw new Failure(missing ? 'key_file_missing' : 'key_file_unreadable', path, cause)
  }
}

async function readPair(file: FileHandle, facts: Stats, path: string): Promise<KeyPair> {
  if (!facts.isFile() || facts.size > MOST_BYTES) {
    throw new Failure('key_file_malformed', `${path}: no file, or over ${MOST_BYTES} bytes`)
  }
  try {
    return keyPairFromJwk(JSON.parse(await file.readFile('utf8')))
  } catch (cause) {
    // The parser quotes what it read, which may be half a private key: that cause is not kept.
    const why = cause instanceof Failure ? cause.detail : 'not JSON'
    throw new Failure('key_file_malformed', `${path}: ${why}`)
  }
}

async function writeDraft(draft: string, text: string): Promise<void> {
  const exclusive = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL
  const file = await open(draft, exclusive, 0o600)
  try {
    await file.writeFile(text, 'utf8')
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Unlike a rename, a link fails when the name is taken (L3). */
async function publish(draft: string, path: string): Promise<void> {
  try {
    await link(draft, path)
  } catch (cause) {
    if (isCode(cause, 'EEXIST')) throw new Failure('key_file_exists', path, cause)
    throw cause
  } finally {
    await unlink(draft)
  }
}

/** Makes the new name itself survive a power cut. */
async function settle(directory: string): Promise<void> {
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function checkModes(path: string, file: Stats, directory: Stats): void {
  if ((file.mode & OTHERS_ANYTHING) !== 0) {
    throw new Failure('key_file_exposed', `${path} has mode ${octal(file.mode)}`)
  }
  checkDirectory(path, directory)
}

/** Who may write the directory may swap the key; a sticky one protects what is in it. */
function checkDirectory(path: string, directory: Stats): void {
  const sticky = (directory.mode & 0o1000) !== 0
  if (!sticky && (directory.mode & OTHERS_WRITE) !== 0) {
    throw new Failure(
      'key_directory_exposed',
      `the directory of ${path} has mode ${octal(directory.mode)}`,
    )
  }
}

const hasModes = ({ platform = process.platform }: KeyFileOptions): boolean => platform !== 'win32'

const octal = (mode: number): string => (mode & 0o7777).toString(8).padStart(4, '0')

const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code

const isFailure = (error: unknown, code: Failure['code']): boolean =>
  error instanceof Failure && error.code === code
