/**
 * The input of a skill as it comes on the command line: JSON itself, a file that holds it, or
 * standard input.
 */
import { createReadStream } from 'node:fs'
import { LIMITS } from '@chimera/domain/limits'
import { MISUSED, Trouble } from './trouble.ts'

export const INPUT_ABOUT =
  'What the skill is given: a JSON object, @file to read it from, or - for standard input.'

const EXPECTED = 'one JSON object, @file with one, or - for standard input'
const MOST_SHOWN = 60

export async function readInput(
  said: string,
  mostBytes: number = LIMITS.bodyBytes,
): Promise<Readonly<Record<string, unknown>>> {
  const from = said === '-' ? 'standard input' : said.startsWith('@') ? said.slice(1) : undefined
  if (said === '-' && process.stdin.isTTY) console.error('The input, ended by Ctrl-D:')
  const path = said === '-' ? undefined : said.slice(1)
  const text = from === undefined ? said : await readAll(path, mostBytes)
  const value = parse(text)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  const came = value === undefined ? `no JSON: ${shown(text)}` : shown(text)
  throw wrong(from === undefined ? came : `${came}, from ${from}`)
}

async function readAll(path: string | undefined, mostBytes: number): Promise<string> {
  const parts: Buffer[] = []
  let bytes = 0
  try {
    const source = path === undefined ? process.stdin : createReadStream(path)
    for await (const part of source) {
      const piece = Buffer.from(part as Uint8Array)
      bytes += piece.length
      if (bytes > mostBytes) throw wrong(`more than ${mostBytes} bytes`)
      parts.push(piece)
    }
  } catch (error) {
    if (error instanceof Trouble) throw error
    throw wrong(`${JSON.stringify(path)}, which cannot be read`)
  }
  return Buffer.concat(parts).toString('utf8')
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function shown(text: string): string {
  const line = JSON.stringify(text.trim())
  return line.length > MOST_SHOWN ? `${line.slice(0, MOST_SHOWN)}…` : line
}

const wrong = (came: string): Trouble =>
  new Trouble(`--input: expected ${EXPECTED}; came ${came}.`, MISUSED)
