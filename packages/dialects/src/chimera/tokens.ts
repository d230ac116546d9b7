/** Owners, their tokens, and the short-lived tokens that are given for one of them. */
import type { Instant, OwnerId } from '@chimera/domain/ids'
import { SCOPES, type Scope } from '@chimera/domain/scopes'
import { type Static, Type } from 'typebox'
import { asItIs, checker, reader } from '../check.ts'
import type { Messages } from '../messages.ts'
import {
  Credits,
  centsOf,
  DateTime,
  instantOf,
  OwnerName,
  Uuid,
  writeCents,
  writeInstant,
} from '../wire.ts'

const Scopes = Type.Array(Type.Enum(SCOPES), {
  minItems: 1,
  maxItems: SCOPES.length,
  uniqueItems: true,
})
const terms = {
  scopes: Type.Optional(Scopes),
  expires_at: Type.Optional(DateTime),
  spending_cap: Type.Optional(Credits),
}
const shown = {
  id: Uuid,
  kind: Type.Enum(['owner', 'operator']),
  owner_id: Type.Optional(OwnerName),
  scopes: Scopes,
  expires_at: Type.Optional(DateTime),
  spending_cap: Type.Optional(Credits),
}
const TokenText = Type.String({
  minLength: 1,
  description: 'Shown in this answer and never again',
})

export const NewToken = Type.Object(terms, { title: 'New token', additionalProperties: false })
export const NewOwner = Type.Object(
  { owner_id: OwnerName, ...terms },
  { title: 'New owner', additionalProperties: false },
)
export const NewSession = Type.Object(
  {
    scopes: Type.Optional(Scopes),
    ttl_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 900 })),
  },
  { title: 'New short-lived token', additionalProperties: false },
)
export const TokenQuery = Type.Object(
  { owner_id: Type.Optional(OwnerName) },
  { title: 'Token query', additionalProperties: false },
)
export const TokenMade = Type.Object({ token: TokenText, ...shown }, { title: 'Token made' })
export const TokenList = Type.Object(
  {
    tokens: Type.Array(
      Type.Object({
        ...shown,
        issued_at: DateTime,
        spent: Credits,
        revoked_at: Type.Optional(DateTime),
      }),
    ),
  },
  { title: 'Tokens' },
)
export const SessionMade = Type.Object(
  { token: TokenText, scopes: Scopes, expires_at: DateTime },
  { title: 'Short-lived token made' },
)

export type TokenWanted = {
  readonly scopes?: readonly Scope[]
  readonly expiresAt?: Instant
  readonly capCents?: number
}
export type OwnerWanted = TokenWanted & { readonly owner: OwnerId }
export type SessionWanted = { readonly scopes?: readonly Scope[]; readonly ttlMs?: number }

/** A token without its text. */
export type TokenShown = {
  readonly id: string
  readonly kind: 'owner' | 'operator'
  readonly owner?: OwnerId
  readonly scopes: readonly string[]
  readonly expiresAt?: Instant
  readonly capCents?: number
}
export type TokenListed = TokenShown & {
  readonly issuedAt: Instant
  readonly spentCents: number
  readonly revokedAt?: Instant
}

function decodeTerms({ scopes, expires_at, spending_cap }: Static<typeof NewToken>): TokenWanted {
  return {
    ...(scopes && { scopes }),
    ...(expires_at !== undefined && { expiresAt: instantOf(expires_at) }),
    ...(spending_cap !== undefined && { capCents: centsOf(spending_cap) }),
  }
}

export const readNewToken = reader(checker(NewToken), decodeTerms)
export const readNewOwner = reader(
  checker(NewOwner),
  ({ owner_id, ...wanted }): OwnerWanted => ({
    owner: owner_id as OwnerId,
    ...decodeTerms(wanted),
  }),
)
export const readNewSession = reader(
  checker(NewSession),
  ({ scopes, ttl_seconds }): SessionWanted => ({
    ...(scopes && { scopes }),
    ...(ttl_seconds !== undefined && { ttlMs: ttl_seconds * 1_000 }),
  }),
)
export const readTokenQuery = reader(checker(TokenQuery), ({ owner_id }) =>
  owner_id === undefined ? {} : { owner: owner_id as OwnerId },
)

/** The one answer that shows a token's text. */
export const encodeTokenMade = (text: string, token: TokenShown) => ({
  token: text,
  ...encodeShown(token),
})

export const encodeTokens = (tokens: readonly TokenListed[]) => ({
  tokens: tokens.map(({ issuedAt, spentCents, revokedAt, ...token }) => ({
    ...encodeShown(token),
    issued_at: writeInstant(issuedAt),
    spent: writeCents(spentCents),
    ...(revokedAt !== undefined && { revoked_at: writeInstant(revokedAt) }),
  })),
})

export const encodeSession = (session: {
  readonly text: string
  readonly scopes: readonly string[]
  readonly expiresAt: Instant
}) => ({
  token: session.text,
  scopes: session.scopes,
  expires_at: writeInstant(session.expiresAt),
})

const encodeShown = ({ id, kind, owner, scopes, expiresAt, capCents }: TokenShown) => ({
  id,
  kind,
  ...(owner !== undefined && { owner_id: owner }),
  scopes,
  ...(expiresAt !== undefined && { expires_at: writeInstant(expiresAt) }),
  ...(capCents !== undefined && { spending_cap: writeCents(capCents) }),
})

export const TOKEN_MESSAGES = {
  'new-owner': { schema: NewOwner, read: readNewOwner },
  'new-token': { schema: NewToken, read: readNewToken },
  'token-query': { schema: TokenQuery, read: readTokenQuery },
  'token-made': { schema: TokenMade, read: asItIs(checker(TokenMade)), carries: ['token'] },
  'token-list': { schema: TokenList, read: asItIs(checker(TokenList)) },
  'new-session': { schema: NewSession, read: readNewSession },
  'session-made': { schema: SessionMade, read: asItIs(checker(SessionMade)), carries: ['token'] },
} satisfies Messages
