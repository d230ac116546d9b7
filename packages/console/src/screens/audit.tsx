/** Audit: what happened, the chain that proves it, and the proof in this browser. */
import { type FormEvent, useEffect, useState } from 'react'
import { countText } from '../format/figures.ts'
import { plainText, sentence } from '../format/text.ts'
import { isOperator, useAnswer, useHub, useLive, useSettled } from '../hub/context.tsx'
import { Json } from '../parts/json.tsx'
import { Proof } from '../parts/proof.tsx'
import { Ago } from '../parts/shown.tsx'
import { Empty, Refusal, Section, Waiting } from '../parts/states.tsx'
import { detailOf } from '../state/detail.ts'
import { type FactPage, isWhole } from '../state/events.ts'

type Row = FactPage['facts'][number]

const FIELDS = ['correlation', 'task_id', 'agent_id', 'owner_id', 'kinds'] as const
const LABELS = {
  correlation: 'Correlation id',
  task_id: 'Task',
  agent_id: 'Agent id',
  owner_id: 'Owner',
  kinds: 'Kind',
} as const

export function AuditScreen() {
  const { info } = useHub()
  const all = isOperator(info)
  return (
    <>
      <div className="head">
        <h1>Audit</h1>
        <span className="muted">every fact, sealed to the one before</span>
      </div>
      {all ? <Proof /> : <NotAll />}
      <Search all={all} />
    </>
  )
}

function NotAll() {
  return (
    <Section title="The chain">
      <Empty title="An operator verifies it">
        Your token shows the facts that you are a party to; the proof needs all of them. Whoever
        runs the hub has an operator’s token: <code>chimera up</code> prints an address with it.
      </Empty>
    </Section>
  )
}

function Search({ all }: { readonly all: boolean }) {
  const { route, go } = useHub()
  const sought = queryOf(route.query, all)
  const [before, setBefore] = useState<number>()
  const path = `/v1/facts?${sought}${before === undefined ? '' : `&before=${before}`}`
  const page = useAnswer((ask, signal) => ask.get<FactPage>(path, signal), path)
  const { data } = page
  const [rows, setRows] = useState<readonly Row[]>([])

  // biome-ignore lint/correctness/useExhaustiveDependencies: another search begins anew
  useEffect(() => {
    setRows([])
    setBefore(undefined)
  }, [sought])
  useEffect(() => {
    if (data !== undefined) setRows((known) => merge(known, data.facts))
  }, [data])
  const soon = useSettled(() => {
    if (before === undefined) page.reload()
  }, 1_000)
  useLive((events) => {
    if (events.some(({ seq }) => seq !== undefined)) soon()
  }, soon)

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const filled = [...form.entries()].flatMap(([name, value]) =>
      typeof value === 'string' && value.trim() !== '' ? [[name, value.trim()] as const] : [],
    )
    go({ screen: 'audit', query: Object.fromEntries(filled) })
  }
  const next = page.data?.next_before
  return (
    <Section title="Facts" note={page.data && `the chain goes to ${countText(page.data.head.seq)}`}>
      <form className="pad search" key={sought} onSubmit={submit}>
        {FIELDS.map((name) => (
          <label key={name}>
            {LABELS[name]}
            <input
              name={name}
              type={name === 'correlation' ? 'search' : 'text'}
              defaultValue={route.query[name] ?? ''}
            />
          </label>
        ))}
        <label>
          From
          <input name="from" type="datetime-local" defaultValue={route.query.from ?? ''} />
        </label>
        <label>
          Until
          <input name="to" type="datetime-local" defaultValue={route.query.to ?? ''} />
        </label>
        <div className="actions">
          <button type="submit" className="primary">
            Search
          </button>
          {Object.keys(route.query).length > 0 && (
            <button type="button" onClick={() => go({ screen: 'audit' })}>
              Clear
            </button>
          )}
        </div>
      </form>
      <div>
        {page.error && <Refusal error={page.error} retry={page.reload} />}
        {rows.map((row) => (
          <Fact key={`${row.seq}`} row={row} />
        ))}
        {rows.length === 0 &&
          !page.error &&
          (page.loading ? (
            <Waiting />
          ) : (
            <Empty title="No fact fits">
              {next === undefined ? 'Change the search above.' : 'None so far.'}
            </Empty>
          ))}
        {next !== undefined && (
          <div className="pad">
            <button type="button" onClick={() => setBefore(next)} disabled={page.loading}>
              Look before fact {countText(next)}
            </button>
          </div>
        )}
      </div>
    </Section>
  )
}

function Fact({ row }: { readonly row: Row }) {
  return (
    <details className="fact">
      <summary>
        <span className="num muted">{row.seq}</span>
        <b>{sentence(row.kind)}</b>
        <span className="muted detail">{plainText(detailOf(row))}</span>
        <Ago at={row.at} />
      </summary>
      <Json
        value={
          isWhole(row)
            ? {
                seq: row.seq,
                correlation: row.correlation,
                prev: row.prev,
                hash: row.hash,
                fact: row.fact,
              }
            : row
        }
      />
    </details>
  )
}

function merge(known: readonly Row[], more: readonly Row[]): readonly Row[] {
  const bySeq = new Map([...known, ...more].map((row) => [row.seq, row]))
  return [...bySeq.values()].sort((a, b) => (b.seq ?? 0) - (a.seq ?? 0))
}

function queryOf(query: Readonly<Record<string, string>>, all: boolean): string {
  const params = new URLSearchParams({ limit: '50', ...(all && { topics: 'audit' }) })
  for (const name of FIELDS) {
    const value = query[name]
    if (value !== undefined && value !== '')
      params.set(name, name === 'kinds' ? value.trim().replaceAll(' ', '_') : value)
  }
  for (const [own, theirs] of [
    ['from', 'since'],
    ['to', 'until'],
  ] as const) {
    const at = Date.parse(query[own] ?? '')
    if (!Number.isNaN(at)) params.set(theirs, new Date(at).toISOString())
  }
  return params.toString()
}
