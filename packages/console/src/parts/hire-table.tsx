/** Hires as a table; each leads to its timeline. */
import { useHub } from '../hub/context.tsx'
import type { AgentMap } from '../state/agents.ts'
import { type Hire, hirerOf } from '../state/hires.ts'
import { Ago, Credits, HireBadge, Id, Link, Name } from './shown.tsx'
import { Empty } from './states.tsx'
import { Table } from './table.tsx'

type HireTableProps = {
  readonly hires: readonly Hire[]
  readonly agents?: AgentMap
  readonly current?: string | undefined
}

export function HireTable({ hires, agents, current }: HireTableProps) {
  const { route } = useHub()
  const query = route.screen === 'work' ? route.query : {}
  if (hires.length === 0) {
    return <Empty title="No work yet">Hires appear here as soon as somebody is asked.</Empty>
  }
  const all = new Map(hires.map((hire) => [hire.task, hire]))
  const nameOf = (id: string | undefined) =>
    id === undefined ? undefined : agents?.get(id)?.agent_name
  return (
    <Table
      label="Hires"
      most={20}
      rows={hires}
      keyOf={({ task }) => task}
      isCurrent={({ task }) => task === current}
      columns={[
        {
          label: 'Work',
          cell: (hire) => (
            <div className="title">
              <Link to={{ screen: 'work', id: hire.task, query }}>
                {nameOf(hire.agent) ? (
                  <Name text={nameOf(hire.agent) ?? ''} />
                ) : (
                  <Id id={hire.agent ?? hire.task} />
                )}
              </Link>
              <small>
                for <Name text={nameOf(hirerOf(hire, all)) ?? hire.payer ?? 'somebody'} />
              </small>
            </div>
          ),
        },
        { label: 'State', cell: ({ state }) => <HireBadge state={state} /> },
        {
          label: 'Credits',
          align: 'end',
          cell: ({ price, amount }) => <Credits amount={price ?? amount} />,
        },
        { label: 'Last change', align: 'end', cell: ({ changedAt }) => <Ago at={changedAt} /> },
      ]}
    />
  )
}
