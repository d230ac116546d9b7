/**
 * What a token may be good for: `read` what is not public, `agents` to register and keep alive,
 * `money` to spend, `reports` on jobs, `tokens` to make and revoke them, `operate` the hub.
 */
export const SCOPES = ['read', 'agents', 'money', 'reports', 'tokens', 'operate'] as const
export type Scope = (typeof SCOPES)[number]

export const OWNER_SCOPES: readonly Scope[] = ['read', 'agents', 'money', 'reports', 'tokens']
/** A key lies on the agent's machine, so it does not make tokens for its owner. */
export const AGENT_SCOPES: readonly Scope[] = ['read', 'agents', 'money', 'reports']

export function isScope(text: string): text is Scope {
  return SCOPES.some((each) => each === text)
}
