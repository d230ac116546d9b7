/** One figure, with what it counts above and what it means below. */
import type { ReactNode } from 'react'

type CardProps = { readonly label: string; readonly value: string; readonly note: ReactNode }

export function Card({ label, value, note }: CardProps) {
  return (
    <div className="card">
      <span>{label}</span>
      <b>{value}</b>
      <small>{note}</small>
    </div>
  )
}
