/**
 * A picture of who works for whom: agents and hirers around an ellipse, a line for each pair that
 * had work together lately, wider for more. Credits that are paid run along it while one looks.
 */
import { useEffect, useMemo, useRef, useState } from 'react'
import { creditText } from '../format/figures.ts'
import { plainText } from '../format/text.ts'
import { useLive } from '../hub/context.tsx'
import type { AgentMap } from '../state/agents.ts'
import { type Flow, flowsOf, ownerNode, ownerOf, placeNodes, type Spot } from '../state/flows.ts'
import type { Hire } from '../state/hires.ts'
import { Link } from './shown.tsx'

/** More than these are a list, not a picture. */
const MOST_NODES = 28
const MOST_FLOWS = 80
const PULSE_MS = 1_600
const WIDE = { margin: 44, side: 104 }
const NARROW = { margin: 44, side: 62 }
const WIDE_CHARS = 28
const NARROW_CHARS = 13

type GraphProps = { readonly agents: AgentMap; readonly hires: readonly Hire[] }
type Pulse = { readonly id: number; readonly from: string; readonly to: string }

export function Graph({ agents, hires }: GraphProps) {
  const [place, width] = useWidth()
  const isNarrow = width < 560
  const height = isNarrow ? 320 : 300
  const flows = useMemo(() => flowsOf(hires).slice(0, MOST_FLOWS), [hires])
  const nodes = useMemo(() => nodesOf(agents, flows), [agents, flows])
  // Half a name, so that those at the sides are whole.
  const spots = placeNodes(
    nodes,
    isNarrow ? { ...NARROW, width, height } : { ...WIDE, width, height },
  )
  const pulses = usePulses()

  return (
    <div className="graph" ref={place}>
      {/* biome-ignore lint/a11y/useSemanticElements: a picture with links in it is no form */}
      <svg viewBox={`0 0 ${width} ${height}`} role="group" aria-label={describe(agents, flows)}>
        {flows.map((flow) => (
          <Edge
            key={`${flow.from} ${flow.to}`}
            flow={flow}
            spots={spots}
            centre={{ x: width / 2, y: height / 2 }}
          />
        ))}
        {flows.map((flow) => (
          <Paid
            key={`${flow.from} ${flow.to}`}
            flow={flow}
            spots={spots}
            centre={{ x: width / 2, y: height / 2 }}
          />
        ))}
        {pulses.map(({ id, from, to }) => {
          const path = pathBetween(spots.get(from), spots.get(to), { x: width / 2, y: height / 2 })
          return (
            path && (
              <circle key={id} r="4" className="pulse">
                <animateMotion dur={`${PULSE_MS}ms`} path={path.line} fill="freeze" />
              </circle>
            )
          )
        })}
        {nodes.map((id) => {
          const spot = spots.get(id)
          const below = spot !== undefined && spot.y > height / 2
          const most = isNarrow ? NARROW_CHARS : WIDE_CHARS
          return spot && <Node key={id} {...{ spot, agents, below, most }} />
        })}
      </svg>
    </div>
  )
}

function Node({
  spot: { id, x, y },
  agents,
  below,
  most,
}: {
  readonly spot: Spot
  readonly agents: AgentMap
  readonly below: boolean
  /** Letters of its name. */
  readonly most: number
}) {
  const owner = ownerOf(id)
  const agent = agents.get(id)
  const name = plainText(owner ?? agent?.agent_name ?? id.slice(0, 8))
  const short = name.length > most ? `${name.slice(0, most - 1)}…` : name
  const used = agent && agent.slots_total > 0 ? 1 - agent.slots_free / agent.slots_total : 0
  const label = (
    <text x={x} y={below ? y + 28 : y - 18}>
      {short}
    </text>
  )
  if (owner !== undefined) {
    return (
      <g className="node">
        <title>{`${name}, an owner who hires`}</title>
        <rect x={x - 8} y={y - 8} width="16" height="16" rx="4" />
        {label}
      </g>
    )
  }
  const offline = agent === undefined || agent.liveness === 'offline'
  return (
    <g className={`node ${offline ? 'offline' : ''}`}>
      <Link to={{ screen: 'network', id }}>
        <title>{`${name}, ${agent?.condition ?? 'gone'}`}</title>
        <circle cx={x} cy={y} r="11" />
        <circle cx={x} cy={y} r={Math.round(used * 80) / 10} className="inner" />
        {label}
      </Link>
    </g>
  )
}

type Point = { readonly x: number; readonly y: number }

type EdgeProps = {
  readonly flow: Flow
  readonly spots: ReadonlyMap<string, Spot>
  readonly centre: Point
}

function Edge({ flow, spots, centre }: EdgeProps) {
  const path = pathBetween(spots.get(flow.from), spots.get(flow.to), centre)
  if (path === undefined) return null
  const width = Math.min(6, 1 + Math.log2(flow.count))
  return (
    <g className="flow">
      <title>{`${flow.count} hires, ${creditText(flow.paid)} credits paid`}</title>
      <path className={`edge ${flow.open > 0 ? 'open' : ''}`} d={path.line} strokeWidth={width} />
    </g>
  )
}

/** Above all lines, so that none goes through it. */
function Paid({ flow, spots, centre }: EdgeProps) {
  const path = pathBetween(spots.get(flow.from), spots.get(flow.to), centre)
  if (path === undefined || flow.paid === 0) return null
  return (
    <text className="paid" x={path.middle.x} y={path.middle.y + 4}>
      {creditText(flow.paid)}
    </text>
  )
}

type Way = { readonly line: string; readonly middle: Point }

/** Bent towards the middle, so that two ways between the same pair are apart. */
function pathBetween(from: Spot | undefined, to: Spot | undefined, centre: Point): Way | undefined {
  if (from === undefined || to === undefined) return undefined
  const x = (from.x + to.x) / 2
  const y = (from.y + to.y) / 2
  const bend = 0.35
  const sideways = { x: (to.y - from.y) * 0.06, y: (from.x - to.x) * 0.06 }
  const cx = Math.round(x + (centre.x - x) * bend + sideways.x)
  const cy = Math.round(y + (centre.y - y) * bend + sideways.y)
  const line = `M${from.x} ${from.y} Q${cx} ${cy} ${to.x} ${to.y}`
  const middle = {
    x: Math.round((from.x + 2 * cx + to.x) / 4),
    y: Math.round((from.y + 2 * cy + to.y) / 4),
  }
  return { line, middle }
}

/** Whoever had work comes first; then who is here. */
function nodesOf(agents: AgentMap, flows: readonly Flow[]): readonly string[] {
  const busy = flows.flatMap(({ from, to }) => [from, to])
  const here = [...agents.values()].filter(({ liveness }) => liveness !== 'offline')
  const all = new Set([...busy, ...here.map(({ agent_id }) => agent_id)])
  return [...all].slice(0, MOST_NODES).sort()
}

function describe(agents: AgentMap, flows: readonly Flow[]): string {
  return `${agents.size} agents, ${flows.length} pairs that had work together lately`
}

function usePulses(): readonly Pulse[] {
  const [pulses, setPulses] = useState<readonly Pulse[]>([])
  const count = useRef(0)
  const calm = useRef(matchMedia('(prefers-reduced-motion: reduce)').matches)
  useLive(
    (events) => {
      if (calm.current || document.hidden) return
      const paid = events.flatMap(({ kind, agent_id: to, planner_id, payer }) => {
        const from = planner_id ?? (payer === undefined ? undefined : ownerNode(payer))
        if (kind !== 'hold_captured' || from === undefined || to === undefined) return []
        count.current += 1
        return [{ id: count.current, from, to }]
      })
      if (paid.length === 0) return
      setPulses((before) => [...before, ...paid].slice(-20))
      setTimeout(
        () => setPulses((before) => before.filter((each) => !paid.includes(each))),
        PULSE_MS,
      )
    },
    () => undefined,
  )
  return pulses
}

/** So that a letter in the picture is as large as one beside it. */
function useWidth() {
  const place = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(900)
  useEffect(() => {
    const own = place.current
    if (own === null) return
    const sized = new ResizeObserver(() => setWidth(Math.max(280, own.clientWidth - 12)))
    sized.observe(own)
    return () => sized.disconnect()
  }, [])
  return [place, width] as const
}
