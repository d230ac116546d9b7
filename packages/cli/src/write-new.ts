/**
 * Files to begin with. Nothing that is there is touched: with one of them in the way nothing is
 * written.
 */
import { access, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { codeOf, Trouble } from './trouble.ts'

export async function writeNew(
  directory: string,
  files: Readonly<Record<string, string>>,
  /** What to do where something is in the way. */
  next: string,
): Promise<void> {
  const there: string[] = []
  for (const name of Object.keys(files)) if (await isThere(join(directory, name))) there.push(name)
  if (there.length > 0) {
    throw new Trouble([`Nothing was written: ${there.join(', ')} would be overwritten.`, next])
  }
  try {
    for (const [name, content] of Object.entries(files)) {
      const path = join(directory, name)
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, content, { flag: 'wx' })
    }
  } catch (cause) {
    throw new Trouble(`${directory} could not be written: ${codeOf(cause) ?? 'unknown'}.`)
  }
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    (cause) => codeOf(cause) !== 'ENOENT' && codeOf(cause) !== 'ENOTDIR',
  )
}
