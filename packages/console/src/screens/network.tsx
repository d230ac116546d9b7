/** Network: who is here, how they stand, and who works for whom. */
import { useMemo } from 'react'
import { countText, percentText, runningText, windowText } from '../format/figures.ts'
import { useAgents } from '../hub/agents.ts'
import { useHub } from '../hub/context.tsx'
import { useHires } from '../hub/hires.ts'
import { Card } from '../parts/card.tsx'
import { Graph } from '../parts/graph.tsx'
import { Ago, Condition, Link, Meter, Name, Slots } from '../parts/shown.tsx'
import { Empty, Section, Show } from '../parts/states.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { type AgentMap, type AgentRow, filterAgents, inOrder, loadOf } from '../state/agents.ts'
import { isOpen } from '../state/hires.ts'

const COLUMNS: readonly Column<AgentRow>[] = [
  {
    label: 'Agent',
    cell: (row) => (
      <div className="title">
        <Link to={{ screen: 'network', id: row.agent_id }}>
          <Name text={row.agent_name} />
        </Link>
        <small>
          <Name text={row.owner_id} />
        </small>
      </div>
    ),
  },
  { label: 'Condition', cell: (row) => <Condition name={row.condition} /> },
  { label: 'Slots', cell: (row) => <Slots free={row.slots_free} total={row.slots_total} /> },
  { label: 'Load', cell: (row) => <Load row={row} /> },
  {
    label: 'Running',
    align: 'end',
    cell: (row) => <span className="num">{runningText(row.running_score)}</span>,
  },
  {
    label: 'Window',
    align: 'end',
    cell: (row) => <span className="num">{windowText(row.window_score)}</span>,
  },
  {
    label: 'Skills',
    wide: true,
    cell: (row) => <Name text={row.skills.map(({ skill }) => skill).join(', ')} />,
  },
  { label: 'Heard', align: 'end', cell: (row) => <Ago at={row.heard_at} /> },
]

function Load({ row }: { readonly row: AgentRow }) {
  const load = loadOf(row)
  if (load === undefined) return <span className="muted">–</span>
  return <Meter share={load} label={`load ${percentText(load)}`} />
}

export function NetworkScreen() {
  const loaded = useAgents()
  const { hires } = useHires()
  const { route, go } = useHub()
  const { q = '', is = '', skill = '' } = route.query
  const set = (query: Readonly<Record<string, string>>) =>
    go({ screen: 'network', query: { ...route.query, ...query } }, true)
  const all = useMemo(() => [...hires.values()], [hires])

  return (
    <>
      <div className="head">
        <h1>Network</h1>
        <span className="muted">who is here, and who works for whom</span>
      </div>
      <Show loaded={loaded} rows={6}>
        {(agents) => (
          <>
            <Figures agents={agents} open={all.filter(isOpen).length} hires={all.length} />
            {agents.size > 0 && (
              <Section
                title="Who works for whom"
                note="the latest hires, with the credits paid; dashed while work is open"
              >
                <Graph agents={agents} hires={all} />
              </Section>
            )}
            <Section
              title="Agents"
              note={`${countText(agents.size)} registered`}
              actions={<Filters {...{ q, is, skill, set }} skills={skillsOf(agents)} />}
            >
              <Agents
                rows={inOrder(filterAgents(agents, { words: q, liveness: is, skill }))}
                any={agents.size > 0}
              />
            </Section>
          </>
        )}
      </Show>
    </>
  )
}

type FiguresProps = { readonly agents: AgentMap; readonly open: number; readonly hires: number }

function Figures({ agents, open, hires }: FiguresProps) {
  const rows = [...agents.values()]
  const here = rows.filter(({ liveness }) => liveness !== 'offline')
  const total = here.reduce((sum, { slots_total }) => sum + slots_total, 0)
  const free = here.reduce((sum, { slots_free }) => sum + slots_free, 0)
  return (
    <div className="cards">
      <Card
        label="Here now"
        value={countText(here.length)}
        note={<>of {countText(rows.length)} registered</>}
      />
      <Card
        label="Slots in use"
        value={countText(total - free)}
        note={<>of {countText(total)} announced</>}
      />
      <Card label="Skills" value={countText(skillsOf(agents).length)} note="on offer" />
      <Card
        label="Open work"
        value={countText(open)}
        note={<>of the latest {countText(hires)} hires</>}
      />
    </div>
  )
}

const skillsOf = (agents: AgentMap): readonly string[] =>
  [
    ...new Set([...agents.values()].flatMap(({ skills }) => skills.map(({ skill }) => skill))),
  ].sort()

type FilterProps = {
  readonly q: string
  readonly is: string
  readonly skill: string
  readonly skills: readonly string[]
  readonly set: (query: Readonly<Record<string, string>>) => void
}

function Filters({ q, is, skill, skills, set }: FilterProps) {
  return (
    <search className="filters">
      <input
        type="search"
        aria-label="Search agents"
        placeholder="Name, owner, skill, id"
        value={q}
        onChange={(event) => set({ q: event.target.value })}
      />
      <select aria-label="Who" value={is} onChange={(event) => set({ is: event.target.value })}>
        <option value="">Everybody</option>
        <option value="here">Here now</option>
        <option value="gone">Offline</option>
      </select>
      <select
        aria-label="Skill"
        value={skill}
        onChange={(event) => set({ skill: event.target.value })}
      >
        <option value="">Any skill</option>
        {skills.map((each) => (
          <option key={each} value={each}>
            {each}
          </option>
        ))}
      </select>
    </search>
  )
}

function Agents({ rows, any }: { readonly rows: readonly AgentRow[]; readonly any: boolean }) {
  if (rows.length > 0) {
    return <Table label="Agents" rows={rows} keyOf={(row) => row.agent_id} columns={COLUMNS} />
  }
  if (any) return <Empty title="Nobody fits">Change the filters above.</Empty>
  return (
    <Empty title="Nobody is here yet">
      An agent is twenty lines. This makes one, and it appears here as soon as it runs:
      <pre>npm start -- new agent my-agent</pre>
    </Empty>
  )
}
