/**
 * An audit on paper: one line that says what is claimed, then every sealed fact, a line each.
 *
 *   A1  The claims (head, balances, scores) are not sealed. They are there to be held against what
 *       follows from the facts, which are.
 *   A2  A line is the canonical text of its value (RFC 8785). Anything else, a name that occurs
 *       twice included, could mean one thing to this reader and another to the next.
 */
import type { Head, Sealed } from '@chimera/domain/audit'
import { AUDIT_FORMAT, type Claims, claimsValue, type Score } from '@chimera/domain/claims'
import type { AgentId, Digest } from '@chimera/domain/ids'
import type { Side } from '@chimera/domain/money/ledger'
import { canonicalText } from '@chimera/identity/canonical'
import { readLines } from './line-file.ts'
import { Trouble } from './trouble.ts'

export const encodeClaims = (claims: Claims): string => canonicalText(claimsValue(claims))

export function encodeFact(sealed: Sealed<unknown>): string {
  return canonicalText(sealed)
}

export function readClaims(path: string): Claims {
  const [line] = readLines(path)
  const value = line === undefined ? undefined : parse(line)
  const claims = value && decodeClaims(value)
  if (claims === undefined) {
    throw new Trouble([
      `${path} is not an export of a trail: its first line does not say what is claimed.`,
      '`chimera audit export --out <file>` writes one.',
    ])
  }
  return claims
}

/** The facts, each checked to be spelled as it must; what they say is for the chain to prove. */
export function* readFacts(path: string): Generator<Sealed<unknown>> {
  let number = 0
  for (const line of readLines(path)) {
    number += 1
    if (number === 1) continue
    const value = parse(line)
    if (value === undefined) {
      const place = `line ${number}, where fact ${number - 1} belongs`
      throw new Trouble(`Broken at ${place}: not one JSON object, spelled as it is exported.`)
    }
    // Whatever else it is or lacks, its seal does not fit then, which the chain finds out.
    yield value as unknown as Sealed<unknown>
  }
}

type Fields = Readonly<Record<string, unknown>>

function parse(line: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return isFields(value) && canonicalText(value) === line ? value : undefined
  } catch {
    return undefined
  }
}

function decodeClaims({ format, head, balances, scores }: Fields): Claims | undefined {
  const known = readHead(head)
  if (format !== AUDIT_FORMAT || known === undefined || !isFields(balances) || !isFields(scores)) {
    return undefined
  }
  const sides = Object.entries(balances)
  const agents = Object.entries(scores)
  if (!sides.every(isBalance) || !agents.every(isScored)) return undefined
  return {
    head: known,
    balances: new Map(sides.map(([side, cents]) => [side as Side, cents])),
    scores: new Map(agents.map(([agent, score]) => [agent as AgentId, score])),
  }
}

function readHead(value: unknown): Head | undefined {
  if (!isFields(value) || typeof value.hash !== 'string') return undefined
  return headOf(`${String(value.seq)}:${value.hash}`)
}

/** `12:9f86…`, as `verify` prints it. */
export function headOf(text: string): Head | undefined {
  const [, seq, hash] = /^(0|[1-9]\d{0,14}):([0-9a-f]{64})$/.exec(text) ?? []
  return seq === undefined ? undefined : { seq: Number(seq), hash: hash as Digest }
}

export const writeHead = ({ seq, hash }: Head): string => `${seq}:${hash}`

const isBalance = (entry: [string, unknown]): entry is [string, number] =>
  Number.isSafeInteger(entry[1])

function isScored(entry: [string, unknown]): entry is [string, Score] {
  const [, score] = entry
  return (
    isFields(score) &&
    Number.isSafeInteger(score.runningMicro) &&
    Number.isSafeInteger(score.windowMicro)
  )
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
