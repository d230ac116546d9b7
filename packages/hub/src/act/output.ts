/**
 * What an agent hands over is held to the schema that it published itself (OC-17).
 *
 *   O1  A skill without an output schema may answer anything.
 *   O2  A schema that cannot be checked safely accepts nothing: it is its publisher's to mend.
 *   O3  Schemas are made ready once and kept by what they are, so that registering again takes the
 *       new one; those longest unused are let go.
 */
import type { PublishedSchema } from '@chimera/domain/agent/agent'
import { readSkillRef, resolveSkill } from '@chimera/domain/agent/skill-version'
import { type Refused, refuse } from '@chimera/domain/decision'
import type { AgentId } from '@chimera/domain/ids'
import { compileForeignSchema, type ForeignSchema } from '@chimera/skill/foreign-schema'
import type { Hub } from './hub.ts'

export type OutputAsked = {
  readonly agent: AgentId
  /** A name, or as much of a version as is known. */
  readonly skill: string
  readonly output: unknown
}

export type OutputRefusal = 'output_invalid' | 'skill_unknown' | 'agent_unknown'

export function checkOutput(
  hub: Pick<Hub, 'directory' | 'schemas' | 'now'>,
  { agent, skill, output }: OutputAsked,
): { readonly ok: true } | Refused<OutputRefusal> {
  const known = hub.directory.find(agent)
  if (known === undefined) return refuse('agent_unknown')
  const ref = readSkillRef(skill)
  const found = ref && resolveSkill(known.skills, ref, hub.now())
  if (!found?.ok) return refuse('skill_unknown')
  if (found.offer.output === undefined) return { ok: true }
  const schema = hub.schemas(found.offer.output)
  const issues = schema.ok ? schema.check(output) : schema.issues
  return issues.length === 0 ? { ok: true } : refuse('output_invalid', { issues })
}

/** Makes a published schema ready, or finds the one that was. */
export type Schemas = (schema: PublishedSchema) => ForeignSchema

// Some tens of kilobytes each: what the busiest agents of a hub publish.
const KEPT = 500

export function createSchemas(most: number = KEPT): Schemas {
  const kept = new Map<PublishedSchema, ForeignSchema>()
  return (schema) => {
    const ready = kept.get(schema) ?? compileForeignSchema(schema)
    // Last in, last out: a map remembers the order in which its keys came.
    kept.delete(schema)
    kept.set(schema, ready)
    const [oldest] = kept.keys()
    if (kept.size > most && oldest !== undefined) kept.delete(oldest)
    return ready
  }
}
