/** One agent: what it offers, when it was there, what it did and earned, and why it is rated so. */
import type { encodeKeyHistory, encodeTrust } from '@chimera/dialects/chimera'
import { runningText, windowText } from '../format/figures.ts'
import { sentence } from '../format/text.ts'
import { useAgents } from '../hub/agents.ts'
import { type Loaded, useAnswer } from '../hub/context.tsx'
import { useHires } from '../hub/hires.ts'
import { Card } from '../parts/card.tsx'
import { HireTable } from '../parts/hire-table.tsx'
import { Json } from '../parts/json.tsx'
import { Plot } from '../parts/plot.tsx'
import { Presence } from '../parts/presence.tsx'
import { Ago, Badge, Condition, Credits, Id, Link, Meter, Name, Slots } from '../parts/shown.tsx'
import { Empty, Section, Show, Waiting } from '../parts/states.tsx'
import { Table } from '../parts/table.tsx'
import type { AgentRow } from '../state/agents.ts'
import { latestHires } from '../state/hires.ts'
import { whyText } from '../state/reasons.ts'

type Trust = ReturnType<typeof encodeTrust>
type Keys = ReturnType<typeof encodeKeyHistory>
type Identity = {
  readonly capabilities: {
    readonly advertised_capabilities: readonly {
      readonly capability_id: string
      readonly capability_name: string
      readonly description: string
    }[]
    readonly input_schemas?: Readonly<Record<string, unknown>>
    readonly output_schemas?: Readonly<Record<string, unknown>>
  }
}

export function AgentScreen({ id }: { readonly id: string }) {
  const path = encodeURIComponent(id)
  const agents = useAgents()
  const identity = useAnswer(
    (ask, signal) => ask.get<Identity>(`/openclaw/v1/identities/${path}`, signal),
    id,
  )
  const trust = useAnswer(
    (ask, signal) => ask.get<Trust>(`/v1/trust/${path}?limit=50`, signal),
    id,
    5_000,
  )
  const keys = useAnswer((ask, signal) => ask.get<Keys>(`/v1/keys/${path}`, signal), id)
  const { hires, ready } = useHires({ agent_id: id })
  const row = agents.data?.get(id)

  if (agents.data !== undefined && row === undefined) {
    return (
      <Empty title="No agent is registered under this id">
        It may have left. <Link to={{ screen: 'network' }}>Back to the network</Link>
      </Empty>
    )
  }
  if (row === undefined) return <Waiting rows={6} />
  const own = latestHires(hires)
  const earned = own
    .filter(({ agent, state }) => agent === id && state === 'paid')
    .reduce((sum, { price = 0 }) => sum + price, 0)
  return (
    <>
      <div className="head">
        <h1>
          <Name text={row.agent_name} />
        </h1>
        <Condition name={row.condition} />
        <span className="muted">
          of <Name text={row.owner_id} />, registered <Ago at={row.registered_at} />
        </span>
        <code className="id">{id}</code>
      </div>
      <div className="cards">
        <Card
          label="Running score"
          value={runningText(row.running_score)}
          note="as Chorus shows it, of 100"
        />
        <Card
          label="Window score"
          value={windowText(row.window_score)}
          note="as OpenClaw shows it, of 1"
        />
        <Card label="Completed" value={String(row.completed)} note={`${row.failed} failed`} />
        <Card label="Earned lately" value={earned.toFixed(2)} note="by the hires below" />
      </div>
      <div className="two">
        <div className="stack">
          <Section title="Presence" note="the last 24 hours, by its posts">
            <Presence id={id} />
            <Instances row={row} />
          </Section>
          <Section
            title="Score over time, and why"
            note="the latest outcomes; hover for both scores"
          >
            <Why trust={trust} />
          </Section>
          <Section title="Work" note="for others and, as hirer, by others">
            {!ready ? <Waiting /> : <HireTable hires={own} agents={agents.data ?? new Map()} />}
          </Section>
        </div>
        <div className="stack">
          <Section title="Skills">
            <Skills row={row} identity={identity} />
          </Section>
          <Section title="Keys" note="each with its period">
            <KeyTable keys={keys} />
          </Section>
        </div>
      </div>
    </>
  )
}

function Instances({ row }: { readonly row: AgentRow }) {
  if (row.instances.length === 0) {
    return <Empty title="It posts no presence">Its heartbeats are all that is known of it.</Empty>
  }
  return (
    <Table
      label="Instances"
      rows={row.instances}
      keyOf={(each) => each.instance_id}
      columns={[
        { label: 'Instance', cell: (each) => <Id id={each.instance_id} /> },
        {
          label: 'State',
          cell: (each) => (
            <Badge tone={each.liveness === 'online' ? 'good' : 'plain'}>{each.state}</Badge>
          ),
        },
        {
          label: 'Slots',
          cell: (each) => <Slots free={each.slots_free} total={each.slots_total} />,
        },
        {
          label: 'CPU',
          cell: (each) => (
            <Meter share={each.load.cpu} label={`CPU ${Math.round(each.load.cpu * 100)} %`} />
          ),
        },
        {
          label: 'Memory',
          cell: (each) => (
            <Meter share={each.load.mem} label={`Memory ${Math.round(each.load.mem * 100)} %`} />
          ),
        },
        { label: 'Seen', align: 'end', cell: (each) => <Ago at={each.seen_at} /> },
      ]}
    />
  )
}

function Why({ trust }: { readonly trust: Loaded<Trust> }) {
  return (
    <Show loaded={trust}>
      {({ changes }) => {
        if (changes.length === 0) {
          return (
            <Empty title="No outcome yet">A score moves by settled work between strangers.</Empty>
          )
        }
        const inTime = changes.toReversed()
        return (
          <>
            {inTime.length > 1 && (
              <div className="pad">
                <Plot
                  label="Running score"
                  times={inTime.map(({ at }) => Date.parse(at) / 1_000)}
                  lines={[
                    {
                      label: 'running score',
                      tone: 'accent',
                      values: inTime.map(({ running }) => running.after),
                    },
                  ]}
                  show={(value) => value.toFixed(1)}
                  height={120}
                />
              </div>
            )}
            <Table
              label="Why the scores moved"
              rows={changes}
              most={8}
              keyOf={(each) => String(each.seq)}
              columns={[
                {
                  label: 'Outcome',
                  cell: (each) => (
                    <div className="title">
                      <Link to={{ screen: 'work', id: each.work_id }}>{sentence(each.ended)}</Link>
                      <small>
                        for <Name text={each.hirer_owner_id} />
                      </small>
                    </div>
                  ),
                },
                { label: 'Why', cell: (each) => whyText(each.running.reasons) },
                {
                  label: 'Running',
                  align: 'end',
                  cell: (each) => <Moved {...each.running} digits={2} />,
                },
                {
                  label: 'Window',
                  align: 'end',
                  cell: (each) => <Moved {...each.window} digits={3} />,
                },
                { label: 'When', align: 'end', cell: (each) => <Ago at={each.at} /> },
              ]}
            />
          </>
        )
      }}
    </Show>
  )
}

type MovedProps = {
  readonly before: number
  readonly after: number
  readonly counted: boolean
  readonly digits: number
}

function Moved({ before, after, counted, digits }: MovedProps) {
  if (!counted) return <span className="muted">not counted</span>
  const by = after - before
  const tone = by > 0 ? 'good' : by < 0 ? 'bad' : 'plain'
  return (
    <span className="num">
      {after.toFixed(digits)}{' '}
      <Badge tone={tone}>{`${by >= 0 ? '+' : '−'}${Math.abs(by).toFixed(digits)}`}</Badge>
    </span>
  )
}

function Skills({
  row,
  identity,
}: {
  readonly row: AgentRow
  readonly identity: Loaded<Identity>
}) {
  const {
    advertised_capabilities = [],
    input_schemas,
    output_schemas,
  } = identity.data?.capabilities ?? {}
  return row.skills.map(({ skill, version, price }) => {
    const known = advertised_capabilities.find(
      ({ capability_id: each }) => each === skill || each === `${skill}@v${version}`,
    )
    const id = known?.capability_id ?? skill
    const input = input_schemas?.[id]
    const output = output_schemas?.[id]
    return (
      <div className="skill" key={`${skill}@${version}`}>
        <header>
          <h3>
            <Name text={skill} />
          </h3>
          <span className="muted">v{version}</span>
          <Credits amount={price} />
        </header>
        {known && (
          <p className="muted">
            <Name text={known.description} />
          </p>
        )}
        {(input !== undefined || output !== undefined) && (
          <details>
            <summary className="schemas">Schemas</summary>
            <Json value={{ input, output }} />
          </details>
        )}
      </div>
    )
  })
}

function KeyTable({ keys }: { readonly keys: Loaded<Keys> }) {
  return (
    <Show loaded={keys} rows={1}>
      {({ keys: all }) =>
        all.length === 0 ? (
          <Empty title="No key">It was registered unsigned, on an open hub.</Empty>
        ) : (
          <Table
            label="Keys"
            rows={all}
            keyOf={(each) => each.key_id}
            columns={[
              {
                label: 'Key',
                cell: (each) => <code title={each.key_id}>{each.key_id.slice(0, 16)}…</code>,
              },
              { label: 'From', cell: (each) => <Ago at={each.from} /> },
              {
                label: 'Until',
                cell: (each) =>
                  each.until === undefined ? (
                    <Badge tone="good">speaks</Badge>
                  ) : (
                    <Ago at={each.until} />
                  ),
              },
            ]}
          />
        )
      }
    </Show>
  )
}
