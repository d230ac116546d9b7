/** Operate: is the hub well, what must be looked after, how busy it is, and the levers. */
import type { encodeAlerts } from '@chimera/dialects/chimera'
import { useEffect, useState } from 'react'
import { bytesText, countText, secondsText } from '../format/figures.ts'
import { plainText, sentence } from '../format/text.ts'
import { isOperator, type Loaded, useAnswer, useHub } from '../hub/context.tsx'
import { Card } from '../parts/card.tsx'
import { Confirm } from '../parts/dialog.tsx'
import { Levers } from '../parts/levers.tsx'
import { Plot } from '../parts/plot.tsx'
import { ProviderPanel, type Providers } from '../parts/providers.tsx'
import { Ago, Badge, Name } from '../parts/shown.tsx'
import { Empty, Section, Show } from '../parts/states.tsx'
import { Table } from '../parts/table.tsx'
import { addPage, type Figures, NO_FIGURES, type Point } from '../state/figures.ts'

type Alerts = ReturnType<typeof encodeAlerts>
type Ready = { readonly ready: boolean; readonly waiting_for?: string; readonly broker?: string }

const POLL_MS = 5_000
const SOON_MS = 1_000
const LEAST_SPAN_MS = 120_000

export function OperateScreen() {
  const { info } = useHub()
  if (!isOperator(info)) {
    return (
      <>
        <div className="head">
          <h1>Operate</h1>
        </div>
        <Section title="For operators">
          <Empty title="This screen is for operators">
            Your token is an owner’s. Sign in with an operator’s token to see health, alerts and the
            levers.
          </Empty>
        </Section>
      </>
    )
  }
  return <Operated />
}

function Operated() {
  const { info } = useHub()
  const ready = useAnswer((ask, signal) => ask.get<Ready>('/ready', signal), 'ready', POLL_MS)
  const alerts = useAnswer(
    (ask, signal) => ask.get<Alerts>('/v1/alerts?limit=50', signal),
    'alerts',
    POLL_MS,
  )
  const providers = useAnswer(
    (ask, signal) => ask.get<Providers>('/v1/providers', signal),
    'providers',
    60_000,
  )
  const [figures, page] = useFigures()
  const latest = figures.points.at(-1)
  const standing = alerts.data?.alerts.filter(({ state }) => state === 'active') ?? []
  return (
    <>
      <div className="head">
        <h1>Operate</h1>
        <span className="muted">
          running since <Ago at={info.started_at} />
        </span>
      </div>
      <div className="cards">
        <Card
          label="Hub"
          value={ready.error ? 'Not ready' : ready.data ? 'Ready' : '…'}
          note={
            ready.error ? plainText(ready.error.message) : `${countText(info.agents)} agents known`
          }
        />
        <Card
          label="Database"
          value={ready.error ? 'Away' : 'Answers'}
          note={info.database === 'embedded' ? 'embedded' : 'PostgreSQL'}
        />
        <Card
          label="Broker"
          value={sentence(info.broker)}
          note={info.broker === 'none' ? 'agents speak over HTTP' : 'NATS'}
        />
        <Card
          label="Alerts"
          value={countText(standing.length)}
          note={standing.length === 0 ? 'nothing to look after' : 'to look after'}
        />
        <Card
          label="Memory"
          value={latest ? bytesText(latest.memory) : '…'}
          note={<>{countText(info.followers)} follow the live feed</>}
        />
      </div>
      <Section title="Alerts">
        <AlertList alerts={alerts} />
      </Section>
      <div className="plots">
        <Section title="Requests a second">
          <FigurePlot
            label="Requests a second"
            figures={figures}
            page={page}
            show={(value) => value.toFixed(1)}
            lines={[
              ['answered', 'accent', ({ requests }) => requests],
              ['refused or failed', 'bad', ({ refused }) => refused],
            ]}
          />
        </Section>
        <Section title="Time to answer">
          <FigurePlot
            label="Time to answer"
            figures={figures}
            page={page}
            show={secondsText}
            lines={[
              ['half within', 'accent', ({ p50 }) => p50],
              ['95 % within', 'bad', ({ p95 }) => p95],
            ]}
          />
        </Section>
        <Section title="How late the process runs">
          <FigurePlot
            label="Delay of the process"
            figures={figures}
            page={page}
            show={secondsText}
            lines={[['99 % within', 'accent', ({ delay }) => delay]]}
          />
        </Section>
        <Section title="Memory">
          <FigurePlot
            label="Memory"
            figures={figures}
            page={page}
            show={bytesText}
            lines={[['resident', 'accent', ({ memory }) => memory]]}
          />
        </Section>
      </div>
      <ProviderPanel loaded={providers} />
      <Section title="Levers" note="orders to agents, signed by the hub’s key">
        <Levers />
      </Section>
      <Section title="Settings" note="as the hub runs now; secrets, hosts and paths are not shown">
        <Table
          label="Settings"
          most={8}
          rows={info.settings ?? []}
          keyOf={({ name }) => name}
          columns={[
            { label: 'Name', cell: ({ name }) => <code>{name}</code> },
            { label: 'Value', cell: ({ value }) => <code>{plainText(value)}</code> },
            {
              label: 'What it does',
              wide: true,
              cell: ({ about }) => <span className="muted">{about.replaceAll('`', '')}</span>,
            },
          ]}
        />
      </Section>
    </>
  )
}

function useFigures(): readonly [Figures, Loaded<string>] {
  const [figures, setFigures] = useState(NO_FIGURES)
  // Rates are between two looks: the second one follows soon, so that there is something to see.
  const everyMs = figures.points.length < 2 ? SOON_MS : POLL_MS
  const page = useAnswer((ask, signal) => ask.text('/metrics', signal), 'metrics', everyMs)
  const { data } = page
  useEffect(() => {
    if (data !== undefined) setFigures((before) => addPage(before, data, Date.now()))
  }, [data])
  return [figures, page]
}

type FigureLine = readonly [
  label: string,
  tone: 'accent' | 'bad',
  of: (point: Point) => number | undefined,
]

type FigurePlotProps = {
  readonly label: string
  readonly figures: Figures
  readonly page: Loaded<string>
  readonly lines: readonly FigureLine[]
  readonly show: (value: number) => string
}

function FigurePlot({ label, figures: { points }, page, lines, show }: FigurePlotProps) {
  return (
    <Show loaded={page}>
      {() => (
        <div className="pad">
          <Plot
            label={label}
            times={timesOf(points)}
            lines={lines.map(([name, tone, of]) => ({
              label: name,
              tone,
              values: [null, ...points.map((point) => of(point) ?? null)],
            }))}
            show={show}
          />
        </div>
      )}
    </Show>
  )
}

/** From two minutes before the first one: a few points are not drawn as if they were all. */
const timesOf = (points: readonly Point[]): readonly number[] => {
  const [first] = points
  const before = first === undefined ? [] : [first.at - LEAST_SPAN_MS]
  return [...before, ...points.map(({ at }) => at)].map((at) => at / 1_000)
}

function AlertList({ alerts }: { readonly alerts: Loaded<Alerts> }) {
  const { ask } = useHub()
  return (
    <Show loaded={alerts} rows={2}>
      {({ alerts: all }) =>
        all.length === 0 ? (
          <Empty title="All is well">What an operator must know appears here.</Empty>
        ) : (
          <div>
            {all.map((alert) => (
              <div className="alert" key={alert.id}>
                <Badge tone={alert.severity === 'critical' ? 'bad' : 'warn'}>
                  {alert.severity}
                </Badge>
                <div>
                  <p>
                    <Name text={alert.message} />
                  </p>
                  <p className="muted">{alert.action}</p>
                  <p className="muted small">
                    {sentence(alert.kind)}, since <Ago at={alert.raised_at} />
                    {alert.acknowledged_at !== undefined && ', somebody looks after it'}
                  </p>
                </div>
                {alert.acknowledged_at === undefined && (
                  <Confirm
                    label="Acknowledge"
                    title="Say that somebody looks after it?"
                    act={async () => {
                      await ask.send(
                        'POST',
                        `/v1/alerts/${encodeURIComponent(alert.id)}/acknowledge`,
                      )
                      alerts.reload()
                    }}
                  >
                    <p>
                      It stands on until its reason is over. That you did so is recorded as a fact.
                    </p>
                  </Confirm>
                )}
              </div>
            ))}
          </div>
        )
      }
    </Show>
  )
}
