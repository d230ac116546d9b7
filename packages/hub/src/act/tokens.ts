/**
 * Making, listing and revoking the tokens of owners and operators.
 *
 *   O1  Nobody makes a token of its own kind that allows more, lives longer or spends more.
 *   O2  An owner's token never operates the hub. An operator makes the first token of an owner.
 *   O3  A token ends with the one that it was made with, unless it was handed to another kind of
 *       holder, or is the very one that ends it: that is how a token is replaced.
 *   O4  The text of a token is in the answer that makes it, and nowhere else.
 */
import type { OwnerWanted, TokenWanted } from '@chimera/dialects/chimera'
import { isUuid } from '@chimera/dialects/wire'
import { type Refused, refuse } from '@chimera/domain/decision'
import type { CorrelationId, Instant, OwnerId } from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'
import { OWNER_SCOPES, SCOPES } from '@chimera/domain/scopes'
import { newSecretToken } from '@chimera/identity/secret-tokens'
import type { Token, TokenTerms } from '../ports/tokens.ts'
import { type Caller, forbidden, isOperator, permit } from './caller.ts'
import type { Hub } from './hub.ts'

export type TokenMade = { readonly ok: true; readonly text: string; readonly terms: TokenTerms }

/** By an operator: an owner, or another token for one who lost the last. */
export async function makeOwner(
  hub: Hub,
  caller: Caller,
  { owner, ...asked }: OwnerWanted,
): Promise<TokenMade | Refused<Refusal>> {
  const mayMake = permitMaking(caller)
  if (!mayMake.ok) return mayMake
  if (!isOperator(caller)) return forbidden()
  const wanted = asked.scopes ?? OWNER_SCOPES
  if (!wanted.every((each) => OWNER_SCOPES.includes(each))) return forbidden()
  const late = isPast(asked, hub.now())
  return late ?? make(hub, { kind: 'owner', owner, ...asked, scopes: wanted, ...madeWith(caller) })
}

/** A further token of the caller's own kind and owner. */
export async function makeToken(
  hub: Hub,
  caller: Caller,
  asked: TokenWanted,
): Promise<TokenMade | Refused<Refusal>> {
  const mayMake = permitMaking(caller)
  if (!mayMake.ok) return mayMake
  const own = caller.token
  if (own === undefined) return forbidden()
  const wanted = asked.scopes ?? caller.scopes
  if (!wanted.every((each) => caller.scopes.includes(each))) return forbidden()
  // What the new one spends would not count against the cap of the old one.
  if (own.capCents !== undefined && wanted.includes('money')) return forbidden()
  const expiresAt = asked.expiresAt ?? own.expiresAt
  if (own.expiresAt !== undefined && (expiresAt ?? 0) > own.expiresAt) return forbidden()
  const late = isPast(asked, hub.now())
  if (late !== undefined) return late
  return make(hub, {
    kind: caller.operator ? 'operator' : 'owner',
    ...(caller.owner !== undefined && { owner: caller.owner }),
    ...asked,
    ...(expiresAt !== undefined && { expiresAt }),
    scopes: wanted,
    ...madeWith(caller),
  })
}

export async function listTokens(
  hub: Hub,
  caller: Caller,
  asked: OwnerId | undefined,
): Promise<{ readonly ok: true; readonly tokens: readonly Token[] } | Refused<Refusal>> {
  const mayMake = permitMaking(caller)
  if (!mayMake.ok) return mayMake
  const owner = asked ?? caller.owner
  if (owner === undefined) return refuse('account_unknown')
  if (owner !== caller.owner && !isOperator(caller)) return forbidden()
  return { ok: true, tokens: await hub.keep.tokens.listOf(owner) }
}

export async function revokeToken(
  hub: Hub,
  caller: Caller,
  id: string,
): Promise<{ readonly ok: true; readonly known: boolean } | Refused<Refusal>> {
  const mayMake = permitMaking(caller)
  // A token may always end itself: who found a leaked one can close that door.
  const itself = caller.token?.id === id && !caller.session
  if (!mayMake.ok && !itself) return mayMake
  if (!isOperator(caller) && !itself) {
    const own = caller.owner === undefined ? [] : await hub.keep.tokens.listOf(caller.owner)
    if (!own.some((each) => each.id === id)) return forbidden()
  }
  const by = caller.token?.id
  const asked = { id, ...(by !== undefined && { by }) }
  const known = isUuid(id) && (await hub.keep.tokens.revoke(asked, hub.uuid() as CorrelationId))
  return { ok: true, known }
}

/** For a hub that has none yet: whoever starts it is its operator. */
export async function makeFirstOperator(hub: Hub): Promise<string> {
  const made = await make(hub, { kind: 'operator', scopes: SCOPES })
  if (!made.ok) throw new Error('a token that is made with none was refused')
  return made.text
}

async function make(
  hub: Hub,
  asked: Omit<TokenTerms, 'digest' | 'id'>,
): Promise<TokenMade | Refused<Refusal>> {
  const { text, digest } = newSecretToken(asked.kind)
  const terms: TokenTerms = { ...asked, digest, id: hub.uuid() }
  const issued = await hub.keep.tokens.issue(terms, hub.uuid() as CorrelationId)
  // The caller's own was revoked since it was looked at.
  return issued ? { ok: true, text, terms } : refuse('token_invalid')
}

const madeWith = ({ token }: Caller) => (token === undefined ? {} : { parent: token.id })

/**
 * W1: on an open hub anybody could make an operator's token and use it when it is no longer open.
 */
const permitMaking = (caller: Caller) => (caller.open ? forbidden() : permit(caller, 'tokens'))

function isPast({ expiresAt }: TokenWanted, now: Instant): Refused<Refusal> | undefined {
  if (expiresAt === undefined || expiresAt > now) return undefined
  const issue = { path: '/expires_at', expected: 'a time to come', got: 'a time that has passed' }
  return refuse('message_malformed', { issues: [issue] })
}
