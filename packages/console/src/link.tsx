/** Whether what is shown is live, in the frame, and over the screen when it is not. */

import { spanText } from './format/time.ts'
import { useHub } from './hub/context.tsx'

export function LinkStatus() {
  const { link } = useHub()
  const live = link.is === 'live'
  const words = live ? 'Live' : link.is === 'connecting' ? 'Connecting' : 'Not live'
  return (
    <p className={`link-status ${link.is}`} role="status">
      <i aria-hidden="true" /> {words}
    </p>
  )
}

export function LostBar() {
  const { link, retryNow } = useHub()
  if (link.is === 'lost') {
    const wait = Math.max(0, link.retryAt - Date.now())
    return (
      <div className="lost" role="status">
        <span>
          The connection to the hub is cut. What you see may be old.{' '}
          {wait > 1_000 ? `Trying again in ${spanText(wait)}.` : 'Trying again…'}
        </span>
        <button type="button" className="quiet" onClick={retryNow}>
          Try now
        </button>
      </div>
    )
  }
  if (link.is !== 'refused') return null
  return (
    <div className="lost" role="alert">
      <span>{link.message} What you see is not kept up to date.</span>
    </div>
  )
}
