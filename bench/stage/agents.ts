/**
 * Agents with keys, the same ones in every thread: whoever knows the number knows the key. Each has
 * one instance and offers one skill that nobody else offers.
 */
import { createHash } from 'node:crypto'
import type { AgentId, CorrelationId, InstanceId, OwnerId } from '@chimera/domain/ids'
import type { Hub } from '@chimera/hub/act/hub'
import { type KeyPair, keyPairFromSeed } from '@chimera/identity/keys'

export type BenchAgent = {
  readonly id: AgentId
  readonly instance: InstanceId
  readonly owner: OwnerId
  readonly skill: string
  readonly key: KeyPair
}

// As many as one owner may have.
const AGENTS_PER_OWNER = 1_000
// As many as the store has connections.
const AT_ONCE = 10

export function agentAt(number: number): BenchAgent {
  const digits = String(number).padStart(12, '0')
  return {
    id: `550e8400-e29b-41d4-a716-${digits}` as AgentId,
    instance: `660e8400-e29b-41d4-a716-${digits}` as InstanceId,
    owner: `owner-${Math.floor(number / AGENTS_PER_OWNER)}` as OwnerId,
    skill: `skill_${number}`,
    key: keyPairFromSeed(createHash('sha256').update(`agent ${number}`).digest()),
  }
}

/** In the store and in this hub's directory, where none of them has been heard yet. */
export async function registerAgents(
  { keep, directory }: Pick<Hub, 'keep' | 'directory'>,
  agents: readonly BenchAgent[],
): Promise<void> {
  let next = 0
  const lane = async () => {
    for (let agent = agents[next]; agent !== undefined; agent = agents[next]) {
      next += 1
      const { id, publicKey } = agent.key
      const { decision, agent: registered } = await keep.agents.register(
        registrationOf(agent),
        { key: { id, publicKey }, owner: agent.owner, open: false },
        agent.id as string as CorrelationId,
      )
      if (!decision.ok) throw new Error(`an agent was refused: ${decision.refusal}`)
      if (registered !== undefined) directory.enter(registered)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
}

function registrationOf({ id, owner, skill }: BenchAgent) {
  const version = { major: 1, minor: 0 }
  const description = 'Does what its name says, in about a second'
  return {
    type: 'register_agent',
    id,
    owner,
    profile: {
      name: `Agent ${id}`,
      // An address that no hub dials by default, so that nobody is probed meanwhile.
      endpoint: 'http://127.0.0.1:9/jobs',
      skills: [{ name: skill, version, description, priceCents: 5 }],
    },
  } as const
}
