/**
 * Where agents are registered, as the skills need it: a hub, or this machine alone. What it cannot
 * do is thrown as a `RegistryFailure` with the code that the skills have for it.
 */
import type { AgentProfile } from '@chimera/dialects/skills/profile'
import type {
  RegisterOpenclawProfileOutput,
  UpdateAgentStateInput,
  UpdateAgentStateOutput,
} from '@chimera/dialects/skills/schema'

export type AgentRegistry = {
  /** What it is, in words for whoever is told. */
  readonly name: string
  readonly show: (agent: string, signal: AbortSignal) => Promise<Shown>
  readonly update: (
    asked: UpdateAgentStateInput,
    signal: AbortSignal,
  ) => Promise<UpdateAgentStateOutput>
  /** Signs the profile and enters it, or what is new in it. */
  readonly register: (
    profile: AgentProfile,
    signal: AbortSignal,
  ) => Promise<RegisterOpenclawProfileOutput>
  readonly close: () => Promise<void>
}

/** `embedded`: nobody but this machine knows it. */
export type Shown = AgentProfile & { readonly embedded?: boolean }

export type RegistryCode =
  | 'AGENT_NOT_FOUND'
  | 'CONCURRENCY_ERROR'
  | 'INVALID_STATE_TRANSITION'
  | 'INVALID_INPUT'
  | 'UNAUTHENTICATED'
  | 'FORBIDDEN'
  | 'CONFLICT'
  | 'LIMIT_REACHED'
  | 'RATE_LIMITED'
  /** It is there and cannot right now. */
  | 'UNAVAILABLE'
  /** Nobody knows whether it heard us. */
  | 'NETWORK_ERROR'

export class RegistryFailure extends Error {
  override readonly name = 'RegistryFailure'
  readonly code: RegistryCode
  readonly retryAfterMs?: number

  constructor(code: RegistryCode, detail: string, retryAfterMs?: number) {
    super(detail)
    this.code = code
    if (retryAfterMs !== undefined) this.retryAfterMs = retryAfterMs
  }
}
