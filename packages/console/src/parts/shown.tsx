/** Small things that every screen shows: times, credits, names of strangers, ids, states. */
import type { ReactNode } from 'react'
import { creditText } from '../format/figures.ts'
import { plainText, shortId } from '../format/text.ts'
import { agoText, exactText, instantOf } from '../format/time.ts'
import { useHub } from '../hub/context.tsx'
import type { Tone } from '../state/hires.ts'
import { type Route, writeRoute } from '../state/route.ts'

/** Relative; the exact one on hover and for whoever listens. */
export function Ago({ at }: { readonly at: string | number | undefined }) {
  const { now } = useHub()
  const instant = typeof at === 'number' ? at : instantOf(at)
  if (instant === undefined) return <span className="muted">–</span>
  return (
    <time dateTime={new Date(instant).toISOString()} title={exactText(instant)} className="num">
      {agoText(instant, now)}
    </time>
  )
}

export function Credits({ amount }: { readonly amount: number | undefined }) {
  if (amount === undefined) return <span className="muted">–</span>
  return <span className="num">{creditText(amount)}</span>
}

/** A stranger's words: isolated from the direction of what stands around them. */
export function Name({ text }: { readonly text: string }) {
  return <bdi className="name">{plainText(text)}</bdi>
}

export function Id({ id }: { readonly id: string | undefined }) {
  if (id === undefined) return <span className="muted">–</span>
  return (
    <code className="id" title={plainText(id)}>
      {plainText(shortId(id))}
    </code>
  )
}

export function Badge({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }) {
  return <span className={`badge ${tone}`}>{children}</span>
}

type LinkProps = {
  readonly to: Pick<Route, 'screen'> & Partial<Route>
  readonly children: ReactNode
  readonly className?: string
  readonly current?: boolean
}

export function Link({ to, children, className, current = false }: LinkProps) {
  const { go } = useHub()
  return (
    <a
      href={writeRoute(to)}
      className={className}
      aria-current={current ? 'page' : undefined}
      onClick={(event) => {
        const elsewhere = event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0
        if (elsewhere) return
        event.preventDefault()
        go(to)
      }}
    >
      {children}
    </a>
  )
}

const CONDITION_TONES: Readonly<Record<string, Tone>> = {
  idle: 'good',
  working: 'good',
  human_review: 'warn',
  paused: 'warn',
  draining: 'warn',
  maintenance: 'warn',
  error: 'bad',
  stopped: 'plain',
}

const CONDITION_WORDS: Readonly<Record<string, string>> = {
  human_review: 'in review',
  stopped: 'offline',
}

export function Condition({ name }: { readonly name: string }) {
  return <Badge tone={CONDITION_TONES[name] ?? 'plain'}>{CONDITION_WORDS[name] ?? name}</Badge>
}

const HIRE_TONES: Readonly<Record<string, Tone>> = {
  paid: 'good',
  done: 'good',
  failed: 'bad',
  ended: 'plain',
  working: 'warn',
  asked: 'warn',
  reserved: 'warn',
}

export function HireBadge({ state }: { readonly state: string }) {
  return <Badge tone={HIRE_TONES[state] ?? 'plain'}>{state}</Badge>
}

/** How full: slots in use of all slots, as a row of small boxes up to a dozen. */
export function Slots({ free, total }: { readonly free: number; readonly total: number }) {
  const words = total === 0 ? 'no slots announced' : `${total - free} of ${total} slots in use`
  if (total === 0)
    return (
      <span className="muted" title={words}>
        –
      </span>
    )
  return (
    <span className="slots" title={words}>
      {total <= 12 && (
        <span className="boxes" aria-hidden="true">
          {Array.from({ length: total }, (_, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: boxes are told apart by nothing else
            <i key={index} className={index < total - free ? 'used' : ''} />
          ))}
        </span>
      )}
      <span className="num">
        {total - free}/{total}
      </span>
    </span>
  )
}

export function Meter({ share, label }: { readonly share: number; readonly label: string }) {
  return (
    <meter
      className="meter"
      min={0}
      max={1}
      high={0.85}
      value={share}
      aria-label={label}
      title={label}
    />
  )
}
