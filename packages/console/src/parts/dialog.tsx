/** Asks before something is done, and says what it will do. What went wrong is said inside. */
import { type ReactNode, useId, useLayoutEffect, useRef, useState } from 'react'
import { HubRefused } from '../hub/ask.ts'
import { Refusal } from './states.tsx'

type ConfirmProps = {
  readonly label: string
  readonly title: string
  /** What will happen, and what stays in the trail of it. */
  readonly children: ReactNode
  readonly act: () => Promise<unknown>
  readonly tone?: 'bad'
  readonly disabled?: boolean
}

export function Confirm({ label, title, children, act, tone, disabled = false }: ConfirmProps) {
  const [open, setOpen] = useState(false)
  return (
    <>
      <button type="button" className={tone} disabled={disabled} onClick={() => setOpen(true)}>
        {label}
      </button>
      {open && (
        <Asked {...{ label, title, act, tone }} close={() => setOpen(false)}>
          {children}
        </Asked>
      )}
    </>
  )
}

type AskedProps = Pick<ConfirmProps, 'label' | 'title' | 'children' | 'act' | 'disabled'> & {
  readonly tone: 'bad' | undefined
  readonly close: () => void
  /** Whoever came here by a key goes on by Enter. */
  readonly ready?: boolean
}

export function Asked(props: AskedProps) {
  const { label, title, children, act, tone, close, disabled = false, ready = false } = props
  const dialog = useRef<HTMLDialogElement>(null)
  const doIt = useRef<HTMLButtonElement>(null)
  const heading = useId()
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<HubRefused>()
  // In the same breath as it appears: a key pressed at once is the dialog's already.
  useLayoutEffect(() => {
    dialog.current?.showModal()
    if (ready) doIt.current?.focus()
  }, [ready])

  // What was disabled while it was busy has lost the keyboard's place.
  useLayoutEffect(() => {
    if (error !== undefined) doIt.current?.focus()
  }, [error])

  async function confirm() {
    setBusy(true)
    try {
      await act()
      close()
    } catch (failure) {
      if (!(failure instanceof HubRefused)) throw failure
      setError(failure)
      setBusy(false)
    }
  }

  return (
    <dialog ref={dialog} aria-labelledby={heading} onClose={close}>
      <h2 id={heading}>{title}</h2>
      <div className="dialog-body">{children}</div>
      {error && <Refusal error={error} />}
      <div className="actions dialog-acts">
        <button type="button" className="quiet" onClick={close}>
          Leave it
        </button>
        <button
          ref={doIt}
          type="button"
          className={tone ?? 'primary'}
          disabled={busy || disabled}
          onClick={() => void confirm()}
        >
          {label}
        </button>
      </div>
    </dialog>
  )
}
