/**
 * A table that becomes a list of cards where there is no room for columns, so that nothing is ever
 * scrolled sideways. Arrow keys and j, k move between the links of its rows.
 */
import { type KeyboardEvent, type ReactNode, useState } from 'react'

export type Column<Row> = {
  readonly label: string
  readonly cell: (row: Row) => ReactNode
  readonly align?: 'end'
  /** Left out of the cards. */
  readonly wide?: boolean
}

type TableProps<Row> = {
  readonly label: string
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
  readonly columns: readonly Column<Row>[]
  readonly isCurrent?: (row: Row) => boolean
  /** So many are shown at first. */
  readonly most?: number
}

export function Table<Row>(props: TableProps<Row>) {
  const { rows, most = rows.length } = props
  const [all, setAll] = useState(false)
  if (all || rows.length <= most) return <Rows {...props} />
  return (
    <>
      <Rows {...props} rows={rows.slice(0, most)} />
      <div className="pad">
        <button type="button" onClick={() => setAll(true)}>
          Show all {rows.length}
        </button>
      </div>
    </>
  )
}

function Rows<Row>({ label, rows, keyOf, columns, isCurrent }: TableProps<Row>) {
  return (
    <table className="table" aria-label={label} onKeyDown={move}>
      <thead>
        <tr>
          {columns.map(({ label: name, align }) => (
            <th key={name} scope="col" className={align}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)} className={isCurrent?.(row) ? 'current' : undefined}>
            {columns.map(({ label: name, cell, align, wide }) => (
              <td
                key={name}
                data-label={name}
                className={`${align ?? ''} ${wide ? 'wide' : ''}`.trim() || undefined}
              >
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }

function move(event: KeyboardEvent<HTMLTableElement>): void {
  const step = STEPS[event.key]
  if (step === undefined || event.metaKey || event.ctrlKey || event.altKey) return
  const links = [
    ...event.currentTarget.querySelectorAll<HTMLElement>('tbody tr a, tbody tr button'),
  ]
  const firsts = links.filter((each) => each.closest('tr')?.querySelector('a, button') === each)
  const own = document.activeElement?.closest('tr')?.querySelector<HTMLElement>('a, button')
  const next = firsts[firsts.indexOf(own ?? event.currentTarget) + step]
  if (next === undefined) return
  event.preventDefault()
  next.focus()
}
