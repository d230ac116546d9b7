/**
 * A wire word is found only under `dialects` (A2): everywhere else the domain's own words are
 * spoken, and the dialect translates. The skills' error codes are those of their document, so
 * `skill` and `skills` may say them too.
 */
import type { Node } from 'oxc-parser'
import { type Finding, type Source, stringOf, walk } from './source.ts'

const AT_HOME = ['dialects', 'skill', 'skills']

// biome-ignore format: a line for each family of words
const WIRE_WORDS = new Set([
  // The status feed.
  'AVAILABLE', 'BUSY', 'HUMAN_REVIEW', 'PAUSED',
  // Chorus.
  'SUCCESS', 'FAILURE', 'PENDING', 'chorus_credits_v1',
  'SKILL_MISMATCH', 'BUDGET_INSUFFICIENT', 'AGENT_OFFLINE', 'TRANSFER_FAILED', 'EXECUTION_ERROR',
  // MoltBook.
  'moltbook.presence.openswarm', 'moltbook.capability.chimera',
  // The skills.
  'AGENT_NOT_FOUND', 'CONCURRENCY_ERROR', 'DUPLICATE_CONTENT', 'EXTERNAL_SERVICE_UNAVAILABLE',
  'FILTER_TIMEOUT', 'GENERATION_TIMEOUT', 'INSUFFICIENT_BALANCE', 'INVALID_ADDRESS',
  'INVALID_CONTENT', 'INVALID_GOALS', 'INVALID_INPUT', 'INVALID_PERSONA', 'INVALID_PLATFORM',
  'INVALID_PROFILE', 'INVALID_STATE_TRANSITION', 'INVALID_TOKEN', 'LLM_ERROR',
  'MEDIA_GENERATION_FAILED', 'NETWORK_ERROR', 'PLATFORM_ERROR', 'PLATFORM_UNAVAILABLE',
  'PUBLISH_FAILED', 'RATE_LIMITED', 'REGISTRATION_FAILED', 'SAFETY_CHECK_TIMEOUT',
  'SAFETY_VIOLATION', 'TOKEN_EXPIRED', 'TX_FAILED', 'VALIDATION_ERROR', 'VALIDATION_FAILED',
  'WALLET_ERROR',
])

export function inspectWireWords(source: Source): Finding[] {
  if (!source.shipped || AT_HOME.includes(source.area)) return []
  const found: Finding[] = []
  walk(source.program, (node, [parent], key) => {
    const word = key === 'key' && isKey(parent) ? keyOf(node) : stringOf(node)
    if (word === undefined || !WIRE_WORDS.has(word)) return
    const advice = `"${word}" is a word of the wire: say it in the domain's words, or in dialects`
    found.push({ at: node.start, rule: 'wire-word', advice })
  })
  return found
}

function isKey(parent: Node | undefined): boolean {
  return parent !== undefined && 'computed' in parent && !parent.computed
}

function keyOf(node: Node): string | undefined {
  return node.type === 'Identifier' ? node.name : stringOf(node)
}
