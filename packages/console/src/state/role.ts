/**
 * For whom the page is: an operator runs the hub, an owner has agents and money, a reviewer answers
 * for an owner and can do nothing else. Where the hub is open, anybody is everybody.
 */
import type { encodeHub } from '@chimera/dialects/chimera'
import { SCREENS, type Screen } from './route.ts'

type Told = Pick<ReturnType<typeof encodeHub>, 'you'>
type Scope = Told['you']['scopes'][number]

export type Role = 'anybody' | 'operator' | 'owner' | 'reviewer'

/** What moves agents or credits, which a reviewer's token does not. */
const MOVING: readonly Scope[] = ['agents', 'money', 'reports', 'tokens']

export function roleOf({ you: { kind, scopes } }: Told): Role {
  if (kind === 'anybody' || kind === 'operator') return kind
  const moves = MOVING.some((each) => scopes.includes(each))
  return scopes.includes('review') && !moves ? 'reviewer' : 'owner'
}

export const may = ({ you: { scopes } }: Told, scope: Scope): boolean => scopes.includes(scope)

/** In their order; what is for operators alone is not offered to others. */
export function screensFor(told: Told): readonly Screen[] {
  const role = roleOf(told)
  if (role === 'operator' || role === 'anybody') return SCREENS
  const others = SCREENS.filter((each) => each !== 'operate')
  return role === 'reviewer' ? ['review', ...others.filter((each) => each !== 'review')] : others
}
