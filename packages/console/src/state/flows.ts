/** Who works for whom: the hires of a while, added up for each pair, for the picture of them. */
import { type Hire, hirerOf } from './hires.ts'

export type Flow = {
  readonly from: string
  readonly to: string
  readonly count: number
  readonly paid: number
  readonly open: number
  readonly lastAt: number
}

/** By the hiring agent where one is known, else by who pays. */
export function flowsOf(hires: Iterable<Hire>): readonly Flow[] {
  const flows = new Map<string, Flow>()
  const all = [...hires]
  const byTask = new Map(all.map((hire) => [hire.task, hire]))
  for (const hire of all) {
    const agent = hirerOf(hire, byTask)
    const from = agent ?? (hire.payer === undefined ? undefined : ownerNode(hire.payer))
    const to = hire.agent
    if (from === undefined || to === undefined || from === to) continue
    const key = `${from} ${to}`
    const known = flows.get(key)
    flows.set(key, {
      from,
      to,
      count: (known?.count ?? 0) + 1,
      paid: (known?.paid ?? 0) + (hire.state === 'paid' ? (hire.price ?? 0) : 0),
      open: (known?.open ?? 0) + (hire.state === 'asked' || hire.state === 'working' ? 1 : 0),
      lastAt: Math.max(known?.lastAt ?? 0, hire.changedAt),
    })
  }
  return [...flows.values()].sort((a, b) => b.lastAt - a.lastAt)
}

const OWNER = 'owner:'
export const ownerNode = (owner: string): string => OWNER + owner
export const ownerOf = (node: string): string | undefined =>
  node.startsWith(OWNER) ? node.slice(OWNER.length) : undefined

export type Spot = { readonly id: string; readonly x: number; readonly y: number }

/** On an ellipse, in an order that stays: a picture that jumps is not read. */
export function placeNodes(
  ids: readonly string[],
  {
    width,
    height,
    margin,
    side = margin,
  }: {
    readonly width: number
    readonly height: number
    readonly margin: number
    /** Left and right, where names need more of it. */
    readonly side?: number
  },
): ReadonlyMap<string, Spot> {
  const rx = width / 2 - side
  const ry = height / 2 - margin
  return new Map(
    ids.map((id, index) => {
      const angle = (index / ids.length) * 2 * Math.PI - Math.PI / 2
      const x = width / 2 + rx * Math.cos(angle)
      const y = height / 2 + ry * Math.sin(angle)
      return [id, { id, x: Math.round(x * 10) / 10, y: Math.round(y * 10) / 10 }]
    }),
  )
}
