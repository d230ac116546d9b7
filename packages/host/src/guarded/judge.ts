/**
 * Whether an address would be dialled, asked when it is given rather than when it is used. The
 * guarded client judges it again then: a name may lead elsewhere by that time.
 */
import type { Clock } from '../clock.ts'
import { readAllowance } from './allowance.ts'
import { checkedAddresses, type Resolve, resolveBySystem } from './dial.ts'
import { type Failed, toFailed } from './failure.ts'
import { readTarget } from './target.ts'

export type Judged = { readonly ok: true; readonly url: string } | Failed

/** Answers with the address as it is dialled: without a fragment, its name spelled in one way. */
export type Judge = (url: string) => Promise<Judged>

export type JudgeOptions = {
  readonly clock: Clock
  readonly allowNet?: readonly string[]
  readonly resolve?: Resolve
}

// As long as the client itself waits for a connection.
const RESOLVE_MS = 5_000

export function createJudge(options: JudgeOptions): Judge {
  const { clock, allowNet = [], resolve = resolveBySystem } = options
  const read = readAllowance(allowNet)
  if (!read.ok) throw new TypeError(`not a network to allow: ${read.wrong.join(', ')}`)
  const { allowance } = read
  return async (text) => {
    try {
      const { url, host, port, secure } = readTarget(text)
      const signal = new AbortController().signal
      const dialling = { clock, allowance, resolve, connectMs: RESOLVE_MS, tls: {}, signal }
      await checkedAddresses({ host, port, secure }, dialling)
      return { ok: true, url: url.href }
    } catch (error) {
      return toFailed(error)
    }
  }
}
