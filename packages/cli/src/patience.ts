/**
 * A bound on waiting that keeps the process alive while it waits. The timer of AbortSignal.timeout
 * does not: when the other side drops the connection at the wrong moment, fetch may wait for
 * nothing at all, and Node ends with status 13 in the middle of the command.
 */
export async function within<T>(ms: number, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const over = new AbortController()
  const late = () => over.abort(new DOMException(`not within ${ms} ms`, 'TimeoutError'))
  const timer = setTimeout(late, ms)
  try {
    return await run(over.signal)
  } finally {
    clearTimeout(timer)
  }
}
