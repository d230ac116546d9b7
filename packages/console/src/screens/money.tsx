/** Money: where all credits are, that they add up, what is put aside, and what was paid when. */
import type { encodeBooks, encodeHolds } from '@chimera/dialects/chimera'
import { useMemo, useState } from 'react'
import { countText, creditText } from '../format/figures.ts'
import { isOperator, useAnswer, useHub, useLive, useSettled } from '../hub/context.tsx'
import { ownsSomething } from '../hub/reviews.tsx'
import { CampaignCosts } from '../parts/costs.tsx'
import { Plot } from '../parts/plot.tsx'
import { Ago, Badge, Credits, Id, Link, Name } from '../parts/shown.tsx'
import { Empty, Section, Show } from '../parts/states.tsx'
import { Table } from '../parts/table.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { fillSpans } from '../state/volume.ts'

type Books = ReturnType<typeof encodeBooks>
type Holds = ReturnType<typeof encodeHolds>
type Economy = { readonly all_balances?: Readonly<Record<string, number>> }
type Transfers = {
  readonly transactions: readonly {
    readonly transfer_id: string
    readonly from_owner: string
    readonly to_owner: string
    readonly amount: number
    readonly job_id?: string
    readonly timestamp_utc: string
  }[]
}

const SPANS = {
  day: { by: 'hour', spans: 24, label: '24 hours' },
  month: { by: 'day', spans: 30, label: '30 days' },
} as const

export function MoneyScreen() {
  const { info } = useHub()
  const [span, setSpan] = useState<keyof typeof SPANS>('day')
  const { by, spans } = SPANS[span]
  const path = `/v1/books?by=${by}&spans=${spans}`
  const books = useAnswer((ask, signal) => ask.get<Books>(path, signal), path, 15_000)
  const economy = useAnswer(
    (ask, signal) => ask.get<Economy>('/economy', signal),
    'economy',
    15_000,
  )
  const holds = useAnswer(
    (ask, signal) => ask.get<Holds>('/v1/holds?limit=100', signal),
    'holds',
    15_000,
  )
  const transfers = useAnswer(
    (ask, signal) => ask.get<Transfers>('/audit?limit=50', signal),
    'transfers',
    15_000,
  )
  const anew = () => {
    for (const each of [books, economy, holds, transfers]) each.reload()
  }
  const soon = useSettled(anew, 800)
  useLive((events) => {
    if (events.some(({ topic }) => topic === 'ledger')) soon()
  }, anew)

  return (
    <>
      <div className="head">
        <h1>Money</h1>
        <span className="muted">where all credits are, and what was paid</span>
      </div>
      <Show loaded={books}>
        {(data) => (
          <>
            <Balance books={data} />
            <Section
              title="Volume"
              note={`${countText(data.payments)} payments, ${creditText(data.volume)} in all`}
              actions={
                <Tabs
                  label="How far back"
                  tabs={[
                    ['day', SPANS.day.label],
                    ['month', SPANS.month.label],
                  ]}
                  current={span}
                  choose={setSpan}
                />
              }
            >
              <Volume books={data} spans={spans} />
            </Section>
          </>
        )}
      </Show>
      {ownsSomething(info) && <CampaignCosts />}
      <div className="two">
        <div className="stack">
          <Section title="Transfers" note="the latest first">
            <Show loaded={transfers}>
              {({ transactions }) => <TransferTable rows={transactions} />}
            </Show>
          </Section>
        </div>
        <div className="stack">
          <Section title="Holds" note="credits that are put aside for work">
            <Show loaded={holds}>
              {({ holds: all }) => (
                <HoldTable
                  rows={all.filter(({ state }) => state === 'placed' || state === 'confirmed')}
                />
              )}
            </Show>
          </Section>
          {isOperator(info) && (
            <Section title="Balances">
              <Show loaded={economy}>
                {({ all_balances = {} }) => <BalanceTable balances={all_balances} />}
              </Show>
            </Section>
          )}
        </div>
      </div>
    </>
  )
}

const counted = (count: number, one: string): string =>
  `${countText(count)} ${one}${count === 1 ? '' : 's'}`

function Balance({ books }: { readonly books: Books }) {
  const { info } = useHub()
  const { minted, in_accounts, in_holds, in_fees, balanced } = books
  const part = (amount: number) => (minted === 0 ? 0 : (amount / minted) * 100)
  return (
    <Section
      title="The books"
      actions={
        <Badge tone={balanced ? 'good' : 'bad'}>
          {balanced ? 'balanced to the hundredth' : 'not balanced'}
        </Badge>
      }
    >
      <div className="pad balance">
        <svg className="bar-svg" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
          <rect className="accounts" width={part(in_accounts)} height="1" />
          <rect className="holds" x={part(in_accounts)} width={part(in_holds)} height="1" />
          <rect
            className="fees"
            x={part(in_accounts + in_holds)}
            width={part(in_fees)}
            height="1"
          />
        </svg>
        <p className="sum">
          <span>
            minted <b>{creditText(minted)}</b>
          </span>
          <span>=</span>
          <span>
            <i className="dot accounts" />
            in {counted(books.accounts, 'account')} <b>{creditText(in_accounts)}</b>
          </span>
          <span>+</span>
          <span>
            <i className="dot holds" />
            in {counted(books.standing_holds, 'hold')} <b>{creditText(in_holds)}</b>
          </span>
          <span>+</span>
          <span>
            <i className="dot" />
            kept as fees <b>{creditText(in_fees)}</b>
          </span>
        </p>
        <p className="muted small">
          The hub adds this up at once.{' '}
          {isOperator(info) ? (
            <>
              <Link to={{ screen: 'audit' }}>Verify the chain</Link> to add it up from the facts in
              this browser, without believing the hub.
            </>
          ) : (
            'An operator adds it up from the facts, without believing the hub, under Audit.'
          )}
        </p>
      </div>
    </Section>
  )
}

function Volume({ books, spans }: { readonly books: Books; readonly spans: number }) {
  const filled = useMemo(() => fillSpans(books, spans), [books, spans])
  if (books.payments === 0) {
    return <Empty title="Nothing was paid yet">The first payment appears here.</Empty>
  }
  return (
    <div className="pad">
      <Plot
        label="Credits paid"
        times={filled.map(({ at }) => at / 1_000)}
        lines={[
          {
            label: `paid by the ${books.by}`,
            tone: 'accent',
            values: filled.map(({ amount }) => amount),
            bars: true,
          },
        ]}
        show={creditText}
      />
    </div>
  )
}

function TransferTable({ rows }: { readonly rows: Transfers['transactions'] }) {
  if (rows.length === 0) return <Empty title="No transfers yet" />
  return (
    <Table
      label="Transfers"
      most={15}
      rows={rows}
      keyOf={({ transfer_id }) => transfer_id}
      columns={[
        {
          label: 'From, to',
          cell: (row) => (
            <div className="title">
              <span>
                <Name text={row.from_owner} /> → <Name text={row.to_owner} />
              </span>
            </div>
          ),
        },
        {
          label: 'Work',
          cell: ({ job_id }) =>
            job_id === undefined ? (
              '–'
            ) : (
              <Link to={{ screen: 'work', id: job_id }}>
                <Id id={job_id} />
              </Link>
            ),
        },
        { label: 'Credits', align: 'end', cell: ({ amount }) => <Credits amount={amount} /> },
        { label: 'When', align: 'end', cell: ({ timestamp_utc }) => <Ago at={timestamp_utc} /> },
      ]}
    />
  )
}

function HoldTable({ rows }: { readonly rows: Holds['holds'] }) {
  if (rows.length === 0) return <Empty title="Nothing is put aside" />
  return (
    <Table
      label="Holds"
      most={10}
      rows={rows}
      keyOf={({ hold_id }) => hold_id}
      columns={[
        {
          label: 'Payer',
          cell: (hold) => (
            <div className="title">
              <Link to={{ screen: 'work', id: hold.task_id }}>
                <Name text={hold.payer_id} />
              </Link>
              <small>
                for <Name text={hold.payee_id} />
              </small>
            </div>
          ),
        },
        { label: 'State', cell: ({ state }) => <Badge tone="warn">{state}</Badge> },
        { label: 'Credits', align: 'end', cell: ({ left }) => <Credits amount={left} /> },
        { label: 'Ends', align: 'end', cell: ({ ends_at }) => <Ago at={ends_at} /> },
      ]}
    />
  )
}

function BalanceTable({ balances }: { readonly balances: Readonly<Record<string, number>> }) {
  const rows = Object.entries(balances).sort(
    ([a, one], [b, other]) => other - one || (a < b ? -1 : 1),
  )
  if (rows.length === 0) return <Empty title="No account is open yet" />
  return (
    <Table
      label="Balances"
      most={15}
      rows={rows}
      keyOf={([owner]) => owner}
      columns={[
        { label: 'Owner', cell: ([owner]) => <Name text={owner} /> },
        { label: 'Credits', align: 'end', cell: ([, amount]) => <Credits amount={amount} /> },
      ]}
    />
  )
}
