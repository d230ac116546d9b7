/**
 * Names as OpenClaw wants them: agents by its pattern, correlations as uuids, versions in three
 * parts, text within its bounds. Each function leaves alone what already fits.
 */
import type { AgentId, CorrelationId } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import { isUuid } from '../wire.ts'

const PREFIX = 'chimera-'
/** Of the agent's id: enough to tell namesakes apart. */
const ID_CHARS = 8

/** A name in no letter that the pattern has is told by its id alone. */
export function agentName({ id, name }: { readonly id: AgentId; readonly name: string }): string {
  if (name.length <= LIMITS.nameChars && /^chimera-[a-z0-9-]+$/.test(name)) return name
  const most = LIMITS.nameChars - PREFIX.length - ID_CHARS - 1
  const slug = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, most)
    .replace(/-$/, '')
  return `${PREFIX}${slug === '' ? 'agent' : slug}-${id.slice(0, ID_CHARS)}`
}

/** OC-23: where an agent takes collaborations; one is `/{id}` behind it, its end `/{id}/cancel`. */
export const collaborationsAddress = (agent: string): string =>
  `${agent}/openclaw/v1/collaborations`

/** What an agent calls its version, in three numbers: `0.1` is `0.1.0`, no number is `0.0.0`. */
export function versionOf(stated: string | undefined): string {
  const parts = /^v?(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?(?!\d)/.exec(stated ?? '')
  return [parts?.[1] ?? '0', parts?.[2] ?? '0', parts?.[3] ?? '0'].join('.')
}

/**
 * Correlations from other doors may be any text. A trace id of 32 hexadecimal digits is a uuid
 * without its hyphens; other text always becomes the same uuid of version 8, made for this.
 */
export function correlationOf(correlation: CorrelationId): string {
  if (isUuid(correlation)) return correlation
  const isTrace = /^[0-9a-f]{32}$/i.test(correlation)
  return hyphenate(isTrace ? correlation.toLowerCase() : digest(correlation))
}

const LANES = [0x811c9dc5, 0x9e3779b9, 0x85ebca6b, 0xc2b2ae35]

/** Spreads text over 128 bits: no secret and no proof, only hardly ever the same for two texts. */
function digest(text: string): string {
  const hex = LANES.map((seed) => lane(text, seed)).join('')
  // The digits of a uuid that tell its version and its variant.
  return `${hex.slice(0, 12)}8${hex.slice(13, 16)}8${hex.slice(17)}`
}

function lane(text: string, seed: number): string {
  let hash = seed
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
    hash ^= hash >>> 15
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x7feb352d)
  hash = Math.imul(hash ^ (hash >>> 15), 0x846ca68b)
  return ((hash ^ (hash >>> 16)) >>> 0).toString(16).padStart(8, '0')
}

const hyphenate = (hex: string): string => hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')

/** Cut to so many characters, never through one. */
export function clip(text: string, most: number): string {
  if (text.length <= most) return text
  // No character is longer than two units.
  return Array.from(text.slice(0, most * 2))
    .slice(0, most)
    .join('')
}
