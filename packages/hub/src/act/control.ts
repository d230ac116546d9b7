/**
 * Orders to agents (SF-11, SF-13): given by operators and signed by the hub, fetched by agents, who
 * verify them by themselves, and acknowledged.
 *
 *   J1  Only an operator gives orders, and only a hub with a key of its own signs them. On an open
 *       hub everybody is an operator, so what it signed would bind nobody (decision 0040).
 *   J2  An agent sees what is for it; so do its owner and the operators.
 *   J3  Only an agent itself says that it has obeyed.
 */
import {
  type ControlAsked,
  type ControlStanding,
  encodeControlOrder,
  type SignedControl,
} from '@chimera/dialects/chimera'
import { ordersFor, ordersInForce } from '@chimera/domain/control'
import { type Refused, refuse } from '@chimera/domain/decision'
import type { AgentId, ControlId, CorrelationId } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import type { Refusal } from '@chimera/domain/refusals'
import { signMessage } from '@chimera/identity/message'
import type { KeptOrder, Seen } from '../ports/control.ts'
import { type Caller, forbidden, isOperator, nameOf, permit, permitAgent } from './caller.ts'
import type { Hub } from './hub.ts'

type Answer<Content> = ({ readonly ok: true } & Content) | Refused<Refusal>

/** Again under the same id, it is the same order, and is said again: it may have been missed. */
export async function giveOrder(
  hub: Hub,
  caller: Caller,
  { id = hub.uuidV7() as ControlId, ...asked }: ControlAsked & Cause,
): Promise<Answer<{ readonly message: SignedControl }>> {
  const { key } = hub
  if (!isOperator(caller)) return forbidden()
  if (key === undefined) return refuse('hub_key_unknown')
  const { correlation, ...said } = asked
  const by = caller.token?.id ?? nameOf(caller)
  const { decision, kept } = await hub.keep.control.issue(
    { wanted: { id, ...said }, key: key.id, by, correlation },
    (order) => signMessage(encodeControlOrder(order), key),
  )
  if (!decision.ok) return decision
  if (kept === undefined) return refuse('service_unavailable')
  const message = messageOf(kept)
  hub.publish('control', message)
  return { ok: true, message }
}

/** What holds for one agent now, of what came after the number that it knows. */
export async function fetchOrders(
  hub: Hub,
  caller: Caller,
  { id, after }: { readonly id: AgentId; readonly after: number },
): Promise<Answer<{ readonly messages: readonly SignedControl[] }>> {
  if (hub.key === undefined) return refuse('hub_key_unknown')
  const agent = await findAgent(hub, id)
  const permitted = agent && permitAgent(caller, agent)
  if (!isOperator(caller) && permitted?.ok !== true) return forbidden()
  if (agent === undefined) return refuse('agent_unknown')
  const addressed = { agent: agent.id, owner: agent.owner }
  const kept = await hub.keep.control.reaching(addressed)
  const orders = kept.map(({ order }) => order)
  const holding = ordersFor(addressed, orders, hub.now())
  const messages = holding
    .filter(({ sequence }) => sequence > after)
    .flatMap((order) => kept.filter((each) => each.order === order).map(messageOf))
  return { ok: true, messages }
}

/** What holds for anybody, the latest first. */
export async function listOrders(
  hub: Hub,
  caller: Caller,
): Promise<Answer<{ readonly orders: readonly ControlStanding[] }>> {
  if (!isOperator(caller)) return forbidden()
  if (hub.key === undefined) return refuse('hub_key_unknown')
  const kept = await hub.keep.control.latest(LIMITS.controlOrders)
  const ownerOf = (agent: AgentId) => hub.directory.find(agent)?.owner
  const given = kept.map(({ order }) => order)
  const holding = new Set(ordersInForce(given, ownerOf, hub.now()))
  const orders = kept
    .filter(({ order }) => holding.has(order))
    .map((each) => ({ message: messageOf(each), addressed: each.addressed, seen: each.seen }))
  return { ok: true, orders }
}

type Cause = { readonly correlation: CorrelationId }

export async function acknowledgeOrder(
  hub: Hub,
  caller: Caller,
  target: Cause & { readonly id: ControlId },
): Promise<{ readonly ok: true } | Refused<Refusal>> {
  if (hub.key === undefined) return refuse('hub_key_unknown')
  const { agent, owner } = caller
  if (agent === undefined || owner === undefined) return forbidden()
  const permitted = permit(caller, 'agents')
  if (!permitted.ok) return permitted
  const decision = await hub.keep.control.see({ agent, owner }, target)
  return decision.ok ? { ok: true } : decision
}

export async function listObeyed(
  hub: Hub,
  caller: Caller,
  wanted: { readonly id: ControlId; readonly after?: AgentId; readonly limit: number },
): Promise<Answer<{ readonly seen: readonly Seen[]; readonly next?: AgentId }>> {
  if (!isOperator(caller)) return forbidden()
  const { id, limit, ...page } = wanted
  if ((await hub.keep.control.find(id)) === undefined) return refuse('order_unknown')
  const found = await hub.keep.control.listSeen(id, { ...page, limit: limit + 1 })
  const seen = found.slice(0, limit)
  const next = found.length > limit ? seen.at(-1)?.agent : undefined
  return { ok: true, seen, ...(next !== undefined && { next }) }
}

/** It may have registered at another hub a moment ago. */
export async function findAgent(hub: Hub, id: AgentId) {
  const listed = hub.directory.find(id)
  if (listed !== undefined) return listed
  const kept = await hub.keep.agents.load(id)
  return kept?.removedAt === undefined ? kept : undefined
}

/** The hub wrote and signed it itself. */
const messageOf = ({ message }: KeptOrder) => message as SignedControl
