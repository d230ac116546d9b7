/** What may take only so long: its signal is aborted, and nobody waits for it any more. */
import type { Clock } from '@chimera/skill/clock'

export class TookTooLong extends Error {
  override readonly name = 'TookTooLong'
}

export async function limited<Value>(
  run: (signal: AbortSignal) => Promise<Value>,
  {
    ms,
    clock,
    signal,
  }: { readonly ms: number; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<Value> {
  const late = new AbortController()
  const both = AbortSignal.any([signal, late.signal])
  let leave: () => void = () => undefined
  const over = new Promise<never>((_, reject) => {
    leave = () => reject(signal.aborted ? signal.reason : new TookTooLong(`${ms} ms`))
    both.addEventListener('abort', leave, { once: true })
  })
  const timer = clock.after(ms, () => late.abort())
  try {
    signal.throwIfAborted()
    return await Promise.race([run(both), over])
  } finally {
    timer.cancel()
    both.removeEventListener('abort', leave)
  }
}
