/**
 * Orders of an operator to agents: asked for, given and signed by the hub, fetched by agents, and
 * acknowledged.
 *
 * A signed order is handed on as it was given. So its reason is looked at when it is asked for:
 * what would be blackened on its way out would no longer fit its signature.
 */
import type { Addressee, ControlAction, ControlOrder as Order } from '@chimera/domain/control'
import type { Issue } from '@chimera/domain/decision'
import { findInside, findSecrets } from '@chimera/domain/disclosure'
import type { AgentId, ControlId, Instant, KeyId, OwnerId } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import { type Static, Type } from 'typebox'
import { asItIs, type CrossCheck, checker, reader } from '../check.ts'
import type { Messages } from '../messages.ts'
import { queryChecker } from '../query.ts'
import { requiredIf } from '../required-if.ts'
import { DateTime, instantOf, OwnerName, readUuid, Uuid, writeInstant } from '../wire.ts'

const said = {
  to: Type.Enum(['agent', 'owner', 'all']),
  agent_id: Type.Optional(Uuid),
  owner_id: Type.Optional(OwnerName),
  action: Type.Enum(['pause', 'resume', 'drain', 'publishing', 'canary']),
  enabled: Type.Optional(Type.Boolean({ description: 'Of publishing: whether it is on' })),
  share: Type.Optional(
    Type.Number({ minimum: 0, maximum: 1, description: 'Of the canary: who publishes' }),
  ),
  reason: Type.Optional(Type.String({ minLength: 1, maxLength: LIMITS.controlReasonChars })),
}
const whole = {
  allOf: [
    requiredIf('to', 'agent', ['agent_id']),
    requiredIf('to', 'owner', ['owner_id']),
    requiredIf('action', 'publishing', ['enabled']),
    requiredIf('action', 'canary', ['share']),
  ],
}
const Sequence = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const order = {
  control_id: Uuid,
  ...said,
  issued_at: DateTime,
  expires_at: DateTime,
  sequence: Type.Integer({
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'Rises with every order of the hub; on one lever the highest holds',
  }),
  key_id: Type.String({
    pattern: '^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$',
    description: 'The RFC 7638 thumbprint of the hub\u2019s key',
  }),
  signature: Type.String({
    pattern: '^[A-Za-z0-9+/]{85}[AQgw]==$',
    description: 'By the hub\u2019s key, over the canonical JSON of the message without this field',
  }),
}

export const NewControl = Type.Object(
  { control_id: Type.Optional(Uuid), ...said, expires_at: Type.Optional(DateTime) },
  { title: 'New order', additionalProperties: false, ...whole },
)
export const ControlOrder = Type.Object(order, { title: 'Order', ...whole })
export const ControlQuery = Type.Object(
  { after: Type.Optional({ ...Sequence, description: 'The highest sequence that is known' }) },
  { title: 'Order query', additionalProperties: false },
)
export const ControlOrders = Type.Object(
  { orders: Type.Array(Type.Object(order, whole), { description: 'The oldest first' }) },
  { title: 'Orders for an agent' },
)
export const ControlList = Type.Object(
  {
    orders: Type.Array(
      Type.Object({
        order: Type.Object(order, whole),
        addressed: Type.Integer({ minimum: 0, description: 'Agents that it is for' }),
        seen: Type.Integer({ minimum: 0, description: 'Agents that have obeyed it' }),
      }),
      { description: 'The latest first' },
    ),
  },
  { title: 'Orders in force' },
)
export const ControlSeenQuery = Type.Object(
  {
    after: Type.Optional({ ...Uuid, description: 'The `next_after` of the page before' }),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMITS.controlSeenPerPage })),
  },
  { title: 'Query for who has obeyed', additionalProperties: false },
)
export const ControlSeenList = Type.Object(
  {
    control_id: Uuid,
    seen: Type.Array(Type.Object({ agent_id: Uuid, seen_at: DateTime })),
    next_after: Type.Optional(Uuid),
  },
  { title: 'Who has obeyed an order' },
)

/** An order as an operator asks for it. */
export type ControlAsked = {
  readonly id?: ControlId
  readonly to: Addressee
  readonly action: ControlAction
  readonly reason?: string
  readonly expiresAt?: Instant
}
/** As it was given: what is shown and carried is this very message. */
export type SignedControl = Static<typeof ControlOrder>

type Said = Pick<Static<typeof NewControl>, keyof typeof said>

/** What belongs to another addressee or action is a slip, and a dangerous one. */
function strayFields({ to, agent_id, owner_id, action, enabled, share }: Said): readonly Issue[] {
  const stray = (path: string, there: boolean, expected: string): readonly Issue[] =>
    there ? [{ path, expected, got: 'a value' }] : []
  return [
    ...stray('/agent_id', agent_id !== undefined && to !== 'agent', 'only beside to: agent'),
    ...stray('/owner_id', owner_id !== undefined && to !== 'owner', 'only beside to: owner'),
    ...stray('/enabled', enabled !== undefined && action !== 'publishing', 'only of publishing'),
    ...stray('/share', share !== undefined && action !== 'canary', 'only of the canary'),
  ]
}

const crossNew: CrossCheck<Static<typeof NewControl>> = (message) => {
  const { reason = '' } = message
  const expected = 'words that name no host, path or secret'
  const leaks = findInside(reason).length + findSecrets(reason).length > 0
  const issues = leaks ? [{ path: '/reason', expected, got: 'one of these' }] : []
  return [...strayFields(message), ...issues]
}

/** Which fields stand where has been checked. */
function addresseeOf({ agent_id, owner_id }: Said): Addressee {
  if (agent_id !== undefined) return { kind: 'agent', agent: readUuid<AgentId>(agent_id) }
  return owner_id === undefined ? { kind: 'all' } : { kind: 'owner', owner: owner_id as OwnerId }
}

function actionOf({ action, enabled = false, share = 0 }: Said): ControlAction {
  if (action === 'publishing') return { type: action, on: enabled }
  return action === 'canary' ? { type: action, share } : { type: action }
}

const decodeSaid = (message: Said) => ({
  to: addresseeOf(message),
  action: actionOf(message),
  ...(message.reason !== undefined && { reason: message.reason }),
})

export const readNewControl = reader(
  checker(NewControl, crossNew),
  ({ control_id, expires_at, ...message }): ControlAsked => ({
    ...(control_id !== undefined && { id: readUuid<ControlId>(control_id) }),
    ...decodeSaid(message),
    ...(expires_at !== undefined && { expiresAt: instantOf(expires_at) }),
  }),
)
/** Whether the hub's key signed it is for the receiver to verify, over the message as it came. */
export const readControlOrder = reader(
  checker(ControlOrder, strayFields),
  (message): Order => ({
    id: readUuid<ControlId>(message.control_id),
    ...decodeSaid(message),
    issuedAt: instantOf(message.issued_at),
    expiresAt: instantOf(message.expires_at),
    sequence: message.sequence,
    key: message.key_id as KeyId,
  }),
)
export const readControlQuery = reader(queryChecker(ControlQuery), ({ after = 0 }) => ({ after }))
export const readControlSeenQuery = reader(
  queryChecker(ControlSeenQuery),
  ({ after, limit = LIMITS.controlSeenPerPage }) => ({
    ...(after !== undefined && { after: readUuid<AgentId>(after) }),
    limit,
  }),
)

/** What is then signed. */
export function encodeControlOrder(given: Order): Omit<SignedControl, 'signature'> {
  const { to, action } = given
  return {
    control_id: given.id,
    to: to.kind,
    ...(to.kind === 'agent' && { agent_id: to.agent }),
    ...(to.kind === 'owner' && { owner_id: to.owner }),
    action: action.type,
    ...(action.type === 'publishing' && { enabled: action.on }),
    ...(action.type === 'canary' && { share: action.share }),
    ...(given.reason !== undefined && { reason: given.reason }),
    issued_at: writeInstant(given.issuedAt),
    expires_at: writeInstant(given.expiresAt),
    sequence: given.sequence,
    key_id: given.key,
  }
}

export const encodeControlOrders = (orders: readonly SignedControl[]) => ({ orders })

export type ControlStanding = {
  readonly message: SignedControl
  readonly addressed: number
  readonly seen: number
}

export const encodeControlList = (orders: readonly ControlStanding[]) => ({
  orders: orders.map(({ message, addressed, seen }) => ({ order: message, addressed, seen })),
})

export const encodeControlSeen = (
  id: ControlId,
  {
    seen,
    next,
  }: {
    readonly seen: readonly { readonly agent: AgentId; readonly at: Instant }[]
    readonly next?: AgentId
  },
) => ({
  control_id: id,
  seen: seen.map(({ agent, at }) => ({ agent_id: agent, seen_at: writeInstant(at) })),
  ...(next !== undefined && { next_after: next }),
})

export const CONTROL_MESSAGES = {
  'new-control': { schema: NewControl, read: readNewControl },
  'control-order': { schema: ControlOrder, read: readControlOrder, quotes: true },
  'control-query': { schema: ControlQuery, read: readControlQuery },
  'control-orders': {
    schema: ControlOrders,
    read: asItIs(checker(ControlOrders)),
    quotes: true,
  },
  'control-list': { schema: ControlList, read: asItIs(checker(ControlList)), quotes: true },
  'control-seen-query': { schema: ControlSeenQuery, read: readControlSeenQuery },
  'control-seen-list': { schema: ControlSeenList, read: asItIs(checker(ControlSeenList)) },
} satisfies Messages
