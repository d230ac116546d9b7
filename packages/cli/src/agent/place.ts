/** Where in the author's own files something went wrong, as lines for a person. */
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'

const FRAME = /\(?((?:file:\/\/|\/|[A-Za-z]:\\)[^\s()]*?):(\d+):(\d+)\)?$/

/** Undefined where nothing of the error points into one of the files. */
export function placeIn(error: unknown, files: readonly string[]): readonly string[] | undefined {
  if (!(error instanceof Error)) return undefined
  const stack = stripVTControlCharacters(error.stack ?? '')
  const said = stripVTControlCharacters(error.message).trimEnd()
  // What does not even compile says the place in its message.
  if (files.some((file) => said.includes(`${file}:`))) return [said]
  for (const line of stack.split('\n')) {
    const [, where = '', row, column] = FRAME.exec(line.trim()) ?? []
    const path = where.startsWith('file:') ? pathOf(where) : where
    if (files.includes(path)) return [`${error.name}: ${said}`, `  at ${path}:${row}:${column}`]
  }
  // A package that is not there, say: the message names who asked for it.
  if ('code' in error && error.code === 'ERR_MODULE_NOT_FOUND') return [said]
  return undefined
}

function pathOf(url: string): string {
  try {
    return fileURLToPath(url)
  } catch {
    return url
  }
}
