/**
 * What a token may be good for: `read` what is not public, `agents` to register and keep alive,
 * `money` to spend, `reports` on jobs, `tokens` to make and revoke them, `review` what is to be
 * published and approve it, `operate` the hub.
 */
export const SCOPES = ['read', 'agents', 'money', 'reports', 'tokens', 'review', 'operate'] as const
export type Scope = (typeof SCOPES)[number]

export const OWNER_SCOPES: readonly Scope[] = SCOPES.filter((each) => each !== 'operate')
/**
 * A key lies on the agent's machine, so it does not make tokens for its owner; and an agent never
 * approves what it wants to publish itself.
 */
export const AGENT_SCOPES: readonly Scope[] = ['read', 'agents', 'money', 'reports']

export function isScope(text: string): text is Scope {
  return SCOPES.some((each) => each === text)
}
