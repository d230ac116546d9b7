/**
 * Agents, their keys and aliases: the domain's decisions, each kept with its facts in one
 * transaction.
 *
 *   R1  Registrations of one owner follow each other, so that its number of agents is exact, and
 *       so do changes of one agent.
 *   R2  A key belongs to one agent for ever, and so does an alias: the database itself has one row
 *       for each. A key that a recovery has named is taken from that moment on.
 *   R3  What cannot be sealed is refused before anything is written.
 */
import {
  type Agent,
  type AgentFact,
  applyAgent,
  decideClaimAlias,
  decideRegister,
  decideRemove,
  type Registrant,
  type Registration,
} from '@chimera/domain/agent/agent'
import {
  decideBind,
  decideCallOffRecovery,
  decideFinishRecovery,
  decideRecover,
  decideRotate,
  type Key,
  type KeyFact,
  type KeyHistory,
  presentKey,
} from '@chimera/domain/agent/keys'
import type { DigestOf } from '@chimera/domain/audit'
import { accept, type Decision, refuse } from '@chimera/domain/decision'
import type {
  AgentId,
  Alias,
  CorrelationId,
  Instant,
  KeyId,
  OwnerId,
  PublicKey,
} from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'
import { ADVISORY, type Database, type Queries } from '../engine/database.ts'
import { type RetryHands, retrying } from '../engine/retry.ts'
import { appendFacts } from '../facts/append.ts'
import { isStorable } from '../storable.ts'
import { readHolder } from './aliases.ts'

export type RegistryOptions = {
  readonly database: Database
  readonly clock: { readonly now: () => Instant; readonly sleep: RetryHands['sleep'] }
  readonly chance: { readonly fraction: () => number }
  readonly digestOf: DigestOf
}

export type AgentDecision = Decision<AgentFact, Refusal>
/** The decision, and the agent as it is afterwards. */
export type AgentOutcome = { readonly decision: AgentDecision; readonly agent?: Agent }

/** Which agent is meant, and what ties the change to its cause. */
export type Target = { readonly id: AgentId; readonly correlation: CorrelationId }

export type Registry = {
  readonly register: (
    registration: Registration,
    registrant: Omit<Registrant, 'ownedAgents'>,
    correlation: CorrelationId,
  ) => Promise<AgentOutcome>
  readonly remove: (target: Target, by: OwnerId) => Promise<AgentOutcome>
  readonly claimAlias: (target: Target, alias: Alias) => Promise<AgentOutcome>
  /** For an agent that was registered unsigned: the first key whose signature was verified. */
  readonly bind: (target: Target, key: Key) => Promise<AgentOutcome>
  /** `signedBy` is the key whose signature on the rotation was verified. */
  readonly rotate: (
    target: Target,
    asked: { readonly key: Key; readonly signedBy: KeyId },
  ) => Promise<AgentOutcome>
  /** By the owner; takes effect after a delay. */
  readonly recover: (target: Target, asked: RecoverAsked) => Promise<AgentOutcome>
  readonly finishRecovery: (target: Target) => Promise<AgentOutcome>
  readonly callOffRecovery: (target: Target, signedBy: KeyId) => Promise<AgentOutcome>
  /** Whose recovery should have taken effect by now, the longest overdue first; some at a time. */
  readonly dueRecoveries: () => Promise<readonly AgentId[]>
  readonly load: (id: AgentId) => Promise<Agent | undefined>
  /** From the database each time: another process may have rotated the key a moment ago. */
  readonly withKey: (key: KeyId) => Promise<KeyHolder | undefined>
  /** Every agent, tombstones included, page by page; for building a directory. */
  readonly loadAll: () => AsyncGenerator<readonly Agent[]>
}

/** Whose key it is. A key has one agent for ever. */
export type KeyHolder = {
  readonly agent: AgentId
  readonly owner: OwnerId
  readonly publicKey: PublicKey
  /** Another key speaks for the agent now. */
  readonly replaced: boolean
  readonly removed: boolean
}

export type RecoverAsked = { readonly key: Key; readonly by: OwnerId; readonly delayMs?: number }

const TAKEN = '23505'
// A profile is at most a body of 256 KiB, so a page stays well under what a process has to spare.
const PAGE = 200

const EFFECT = `(agent -> 'keys' -> 'recovery' ->> 'takesEffectAt')`
const DUE = `
  SELECT id FROM agents WHERE ${EFFECT} IS NOT NULL AND ${EFFECT}::bigint <= $1
  ORDER BY ${EFFECT}::bigint LIMIT $2`

type Rule = (tx: Queries, agent: Agent, now: Instant) => Promise<AgentDecision> | AgentDecision

export function createRegistry({ database, clock, chance, digestOf }: RegistryOptions): Registry {
  const hands: RetryHands = { sleep: clock.sleep, fraction: chance.fraction }
  const atomically = <T>(work: (tx: Queries) => Promise<T>) =>
    retrying(() => database.transaction(work), hands, {
      // Somebody else took the same id, key or alias first: it is found next time.
      also: ({ sqlState }) => sqlState === TAKEN,
    })

  async function keep(
    tx: Queries,
    before: Agent | undefined,
    decision: AgentDecision,
    correlation: CorrelationId,
  ): Promise<AgentOutcome> {
    if (!decision.ok) return before === undefined ? { decision } : { decision, agent: before }
    if (!isSealable(decision.facts, digestOf)) return { decision: refuse('message_malformed') }
    const agent = decision.facts.reduce(applyAgent, before)
    if (agent === undefined) return { decision }
    const keys = await findNewKeys(tx, agent.id, decision.facts)
    if (keys === 'taken') return { decision: refuse('key_reused') }
    await save(tx, { before, agent, keys }, decision.facts)
    const recordedAt = clock.now()
    await appendFacts(
      tx,
      decision.facts.map((fact) => ({ fact, recordedAt, correlation })),
    )
    return { decision, agent }
  }

  /** For an agent that is known. */
  const change = ({ id, correlation }: Target, rule: Rule): Promise<AgentOutcome> =>
    atomically(async (tx) => {
      if (!isStorable(id)) return { decision: refuse('agent_unknown') }
      const agent = await lockAgent(tx, id)
      if (agent === undefined) return { decision: refuse('agent_unknown') }
      return keep(tx, agent, await rule(tx, agent, clock.now()), correlation)
    })

  return {
    register: (registration, registrant, correlation) =>
      atomically(async (tx) => {
        const { id, owner } = registration
        if (!isStorable([registration, correlation])) return malformed()
        await lockOwner(tx, owner)
        const agent = await lockAgent(tx, id)
        const ownedAgents = await countOthers(tx, owner, id)
        const now = clock.now()
        const decision = decideRegister(agent, registration, { ...registrant, ownedAgents }, now)
        return keep(tx, agent, decision, correlation)
      }),

    remove: (target, by) => change(target, (_, agent, now) => decideRemove(agent, by, now)),

    async claimAlias(target, alias) {
      if (!isStorable(alias)) return malformed()
      return change(target, async (tx, agent) =>
        decideClaimAlias(agent, alias, await readHolder(tx, alias)),
      )
    },

    bind: (target, key) =>
      change(target, (_, agent, now) => ofKeys(agent, (keys) => decideBind(keys, key, now))),

    rotate: (target, asked) =>
      change(target, (_, agent, now) => ofKeys(agent, (keys) => decideRotate(keys, asked, now))),

    recover: (target, { key, by, delayMs }) =>
      change(target, (_, agent, now) => {
        if (agent.owner !== by) return refuse('caller_forbidden')
        return ofKeys(agent, (keys) => decideRecover(keys, key, now, delayMs))
      }),

    finishRecovery: (target) =>
      change(target, (_, agent, now) => ofKeys(agent, (keys) => decideFinishRecovery(keys, now))),

    callOffRecovery: (target, signedBy) =>
      change(target, (_, agent) => ofKeys(agent, (keys) => decideCallOffRecovery(keys, signedBy))),

    async dueRecoveries() {
      const rows = await database.query<{ id: AgentId }>(DUE, [clock.now(), PAGE])
      return rows.map((row) => row.id)
    },

    async load(id) {
      if (!isStorable(id)) return undefined
      const [row] = await database.query<{ agent: Agent }>(
        'SELECT agent FROM agents WHERE id = $1',
        [id],
      )
      return row?.agent
    },

    withKey: async (key) => (isStorable(key) ? readKeyHolder(database, key) : undefined),

    async *loadAll() {
      for (let last = ''; ; ) {
        const rows = await database.query<{ agent: Agent }>(
          'SELECT agent FROM agents WHERE id > $1 ORDER BY id LIMIT $2',
          [last, PAGE],
        )
        if (rows.length === 0) return
        yield rows.map((row) => row.agent)
        last = rows.at(-1)?.agent.id ?? last
      }
    },
  }
}

const malformed = (): AgentOutcome => ({ decision: refuse('message_malformed') })

function ofKeys<Code extends Refusal>(
  { id, keys }: Agent,
  decide: (keys: KeyHistory) => Decision<KeyFact, Code>,
): AgentDecision {
  const decision = decide(keys)
  if (!decision.ok) return decision
  return accept(
    ...decision.facts.map((each): AgentFact => ({ type: 'key_changed', id, change: each })),
  )
}

/** By its name, since a newcomer has no row, and a refusal must not leave one behind. */
async function lockOwner(tx: Queries, owner: OwnerId): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock($1::int, hashtext($2))', [ADVISORY.owner, owner])
}

async function lockAgent(tx: Queries, id: AgentId): Promise<Agent | undefined> {
  const [row] = await tx.query<{ agent: Agent }>(
    'SELECT agent FROM agents WHERE id = $1 FOR UPDATE',
    [id],
  )
  return row?.agent
}

async function countOthers(tx: Queries, owner: OwnerId, id: AgentId): Promise<number> {
  const [row] = await tx.query<{ count: number }>(
    `SELECT count(*) AS count FROM agents
     WHERE owner = $1 AND id <> $2 AND removed_at IS NULL`,
    [owner, id],
  )
  return row?.count ?? 0
}

/** Without the rest of the agent's row, which may hold a hundred schemas. */
async function readKeyHolder(queries: Queries, key: KeyId): Promise<KeyHolder | undefined> {
  const [row] = await queries.query<{
    id: AgentId
    owner: OwnerId
    removed_at: Instant | null
    keys: KeyHistory
  }>(
    `SELECT agents.id, owner, removed_at, agents.agent -> 'keys' AS keys
     FROM agent_keys JOIN agents ON agents.id = agent_keys.agent WHERE key = $1`,
    [key],
  )
  const period = row?.keys.periods.find((each) => each.id === key)
  if (row === undefined || period === undefined) return undefined
  return {
    agent: row.id,
    owner: row.owner,
    publicKey: period.publicKey,
    replaced: presentKey(row.keys)?.id !== key,
    removed: row.removed_at !== null,
  }
}

const keysIn = (facts: readonly AgentFact[]) =>
  facts.flatMap((fact) => {
    if (fact.type !== 'key_changed' || fact.change.type === 'recovery_called_off') return []
    return [fact.change.key.id]
  })

/** R2 across agents; within one the domain sees to it. */
async function findNewKeys(
  tx: Queries,
  id: AgentId,
  facts: readonly AgentFact[],
): Promise<readonly KeyId[] | 'taken'> {
  const fresh: KeyId[] = []
  for (const key of keysIn(facts)) {
    const [row] = await tx.query<{ agent: AgentId }>(
      'SELECT agent FROM agent_keys WHERE key = $1',
      [key],
    )
    if (row === undefined) fresh.push(key)
    else if (row.agent !== id) return 'taken'
  }
  return fresh
}

async function save(
  tx: Queries,
  {
    before,
    agent,
    keys,
  }: {
    readonly before: Agent | undefined
    readonly agent: Agent
    readonly keys: readonly KeyId[]
  },
  facts: readonly AgentFact[],
): Promise<void> {
  const row = [agent.id, agent.removedAt ?? null, JSON.stringify(agent)]
  if (before === undefined) {
    await tx.query('INSERT INTO owners (id, known_since) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
      agent.owner,
      agent.registeredAt,
    ])
    await tx.query('INSERT INTO agents (id, removed_at, agent, owner) VALUES ($1, $2, $3, $4)', [
      ...row,
      agent.owner,
    ])
  } else if (facts.length > 0) {
    await tx.query('UPDATE agents SET removed_at = $2, agent = $3 WHERE id = $1', row)
  }
  for (const key of keys) {
    await tx.query('INSERT INTO agent_keys (key, agent) VALUES ($1, $2)', [key, agent.id])
  }
  for (const fact of facts) {
    if (fact.type !== 'alias_claimed') continue
    await tx.query('INSERT INTO aliases (alias, agent) VALUES ($1, $2)', [fact.alias, agent.id])
  }
}

/** Profiles carry schemas of strangers, which may be deeper than what has a canonical form (R3). */
function isSealable(facts: readonly AgentFact[], digestOf: DigestOf): boolean {
  try {
    for (const fact of facts) digestOf(fact)
    return isStorable(facts)
  } catch {
    return false
  }
}
