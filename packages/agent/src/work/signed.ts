/**
 * Results as they are published: signed once, and written once for all who are told. Signing is
 * most of what a small piece of work costs, and a result is told at least twice: to whoever waits
 * for it, and to the hub.
 *
 *   G1  The same bytes each time, under the key that is present.
 *   G2  Remembered is what is still to be told, and of that the latest.
 */
import * as openclaw from '@chimera/dialects/openclaw'
import type { KeyId } from '@chimera/domain/ids'
import type { EndReported } from '@chimera/domain/work/result'
import { signMessageText } from '@chimera/identity/message'
import type { Self } from '../ports.ts'
import type { KeptWork } from './keep.ts'

export type SignedResult = {
  readonly by: KeyId
  readonly message: object
  /** The message as JSON. */
  readonly text: string
}

export type SignedResults = {
  readonly find: (report: EndReported) => SignedResult | undefined
  readonly add: (report: EndReported, signed: SignedResult) => void
  /** It is told: whoever asks for it later has it signed again, with the same bytes. */
  readonly forget: (report: EndReported) => void
}

// A kilobyte each; twice as many are remembered at most.
const MOST = 1_000

/** In two ages, so that nothing is taken out one by one. */
export function createSignedResults(): SignedResults {
  let young = new Map<EndReported, SignedResult>()
  let old = young
  return {
    find: (report) => young.get(report) ?? old.get(report),
    add(report, signed) {
      if (young.size === MOST) {
        old = young
        young = new Map()
      }
      young.set(report, signed)
    },
    forget(report) {
      if (!young.delete(report)) old.delete(report)
    },
  }
}

export function signedResult(self: Self, { report }: KeptWork): SignedResult | undefined {
  if (report === undefined) return undefined
  const key = self.key()
  const before = self.signed?.find(report)
  if (before?.by === key.id) return before
  const signed = signMessageText(openclaw.encodeResult(report, report.endedAt ?? 0), key)
  const result = { by: key.id, ...signed }
  self.signed?.add(report, result)
  return result
}
