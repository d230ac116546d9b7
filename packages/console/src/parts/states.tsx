/** What a screen shows when it has nothing to show: waiting, nothing there, or told no. */
import type { ReactNode } from 'react'
import type { HubRefused } from '../hub/ask.ts'
import type { Loaded } from '../hub/context.tsx'

export function Empty({
  title,
  children,
}: {
  readonly title: string
  readonly children?: ReactNode
}) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children && <div className="muted">{children}</div>}
    </div>
  )
}

export function Waiting({ rows = 4 }: { readonly rows?: number }) {
  return (
    <div className="waiting" role="status">
      <span className="unseen">Loading</span>
      {Array.from({ length: rows }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: grey bars are all alike
        <i key={index} aria-hidden="true" />
      ))}
    </div>
  )
}

export function Refusal({
  error,
  retry,
}: {
  readonly error: HubRefused
  readonly retry?: () => void
}) {
  return (
    <div className="refusal" role="alert">
      <p>{error.message}</p>
      <p className="muted">
        <code>{error.code}</code>
        {retry && (
          <button type="button" className="quiet" onClick={retry}>
            Try again
          </button>
        )}
      </p>
    </div>
  )
}

type PanelProps<Answer> = {
  readonly loaded: Loaded<Answer>
  readonly children: (data: Answer) => ReactNode
  readonly rows?: number
}

/** The three of them around what was asked for; what is there is shown even when it is old. */
export function Show<Answer>({ loaded, children, rows = 4 }: PanelProps<Answer>) {
  const { data, error, reload } = loaded
  if (data === undefined) {
    return error ? <Refusal error={error} retry={reload} /> : <Waiting rows={rows} />
  }
  return (
    <>
      {error && <Refusal error={error} retry={reload} />}
      {children(data)}
    </>
  )
}

type SectionProps = {
  readonly title: string
  readonly note?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
  readonly className?: string
}

export function Section({ title, note, actions, children, className = '' }: SectionProps) {
  return (
    <section className={`panel ${className}`} aria-label={title}>
      <header>
        <h2>{title}</h2>
        {note && <span className="muted note">{note}</span>}
        {actions && <div className="actions">{actions}</div>}
      </header>
      {children}
    </section>
  )
}
