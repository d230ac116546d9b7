/** The page by keyboard: `g` and a letter to go somewhere, `/` to search, `?` for this list. */
import { useEffect, useEffectEvent, useLayoutEffect, useRef, useState } from 'react'
import { useHub } from './hub/context.tsx'
import { screensFor } from './state/role.ts'

const PREFIX_MS = 1_500

export function Keys() {
  const { go, info } = useHub()
  const [open, setOpen] = useState(false)
  const prefixedAt = useRef(0)

  const onKey = useEffectEvent((event: KeyboardEvent) => {
    if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return
    const prefixed = Date.now() - prefixedAt.current < PREFIX_MS
    prefixedAt.current = event.key === 'g' && !prefixed ? Date.now() : 0
    const screen = prefixed && screensFor(info).find((each) => each.startsWith(event.key))
    if (screen) {
      event.preventDefault()
      go({ screen })
    } else if (event.key === '/') {
      const search = document.querySelector<HTMLInputElement>('input[type=search]')
      if (search === null) return
      event.preventDefault()
      search.focus()
    } else if (event.key === '?') {
      setOpen(true)
    }
  })
  useEffect(() => {
    const listen = (event: KeyboardEvent) => onKey(event)
    // Before the keys of a screen: `g a` goes somewhere, and is no `a`.
    addEventListener('keydown', listen, { capture: true })
    return () => removeEventListener('keydown', listen, { capture: true })
  }, [])

  return open ? <KeyList close={() => setOpen(false)} /> : null
}

export function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('input, textarea, select, dialog') !== null
}

function KeyList({ close }: { readonly close: () => void }) {
  const { info } = useHub()
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog ref={dialog} aria-label="Keys" onClose={close}>
      <h2>Keys</h2>
      <dl className="keys">
        {screensFor(info).map((screen) => (
          <div key={screen}>
            <dt>
              <kbd>g</kbd> <kbd>{screen.charAt(0)}</kbd>
            </dt>
            <dd>go to {screen}</dd>
          </div>
        ))}
        <div>
          <dt>
            <kbd>/</kbd>
          </dt>
          <dd>search</dd>
        </div>
        <div>
          <dt>
            <kbd>j</kbd> <kbd>k</kbd>
          </dt>
          <dd>down and up in a table, or from review to review</dd>
        </div>
        <div>
          <dt>
            <kbd>a</kbd> <kbd>e</kbd> <kbd>r</kbd>
          </dt>
          <dd>approve, edit, reject what is reviewed</dd>
        </div>
        <div>
          <dt>
            <kbd>Esc</kbd>
          </dt>
          <dd>leave what is open</dd>
        </div>
      </dl>
      <div className="actions dialog-acts">
        <button type="button" className="quiet" onClick={close}>
          Close
        </button>
      </div>
    </dialog>
  )
}
