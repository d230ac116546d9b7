/**
 * What no document defines, under `/v1`: owners and tokens. Each route is decode, act, encode, as
 * in the dialects; the error is the one error, with our own codes.
 */
import { checker } from '@chimera/dialects/check'
import { encodeError } from '@chimera/dialects/error'
import { statusOf } from '@chimera/dialects/http-status'
import {
  Credits,
  centsOf,
  DateTime,
  instantOf,
  OwnerName,
  writeCents,
  writeInstant,
} from '@chimera/dialects/wire'
import { type Refused, refuse } from '@chimera/domain/decision'
import type { OwnerId } from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'
import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import { type Static, Type } from 'typebox'
import { SCOPES } from '../act/caller.ts'
import type { Hub } from '../act/hub.ts'
import { openSession } from '../act/sessions.ts'
import {
  listTokens,
  makeOwner,
  makeToken,
  revokeToken,
  type TokenAsked,
  type TokenMade,
} from '../act/tokens.ts'
import type { Token, TokenTerms } from '../ports.ts'

export type OurRoutes = { readonly hub: Hub }

const Scopes = Type.Array(Type.Union(SCOPES.map((each) => Type.Literal(each))), {
  minItems: 1,
  maxItems: SCOPES.length,
  uniqueItems: true,
})
const terms = {
  scopes: Type.Optional(Scopes),
  expires_at: Type.Optional(DateTime),
  spending_cap: Type.Optional(Credits),
}
const NewToken = Type.Object(terms, { additionalProperties: false })
const NewOwner = Type.Object({ owner_id: OwnerName, ...terms }, { additionalProperties: false })
const NewSession = Type.Object(
  {
    scopes: Type.Optional(Scopes),
    ttl_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 900 })),
  },
  { additionalProperties: false },
)
const TokenQuery = Type.Object(
  { owner_id: Type.Optional(OwnerName) },
  { additionalProperties: false },
)

const checkOwner = checker(NewOwner)
const checkToken = checker(NewToken)
const checkSession = checker(NewSession)
const checkQuery = checker(TokenQuery)

type ById = { readonly Params: { readonly id: string } }

export const ourRoutes: FastifyPluginAsync<OurRoutes> = async (app, { hub }) => {
  const no = (reply: FastifyReply, refused: Refused<Refusal>) =>
    reply.code(statusOf(refused.refusal)).send(encodeError(refused, refused.refusal, hub.now()))

  app.post('/owners', async (request, reply) => {
    const checked = checkOwner(request.body)
    if (!checked.ok) return no(reply, checked)
    const owner = checked.message.owner_id as OwnerId
    const outcome = await makeOwner(hub, request.caller, { owner, ...termsIn(checked.message) })
    return outcome.ok ? reply.code(201).send(encodeMade(outcome)) : no(reply, outcome)
  })

  app.post('/tokens', async (request, reply) => {
    const checked = checkToken(request.body ?? {})
    if (!checked.ok) return no(reply, checked)
    const outcome = await makeToken(hub, request.caller, termsIn(checked.message))
    return outcome.ok ? reply.code(201).send(encodeMade(outcome)) : no(reply, outcome)
  })

  app.get('/tokens', async (request, reply) => {
    const checked = checkQuery(request.query)
    if (!checked.ok) return no(reply, checked)
    const owner = checked.message.owner_id as OwnerId | undefined
    const outcome = await listTokens(hub, request.caller, owner)
    return outcome.ok ? { tokens: outcome.tokens.map(encodeToken) } : no(reply, outcome)
  })

  app.delete<ById>('/tokens/:id', async (request, reply) => {
    const outcome = await revokeToken(hub, request.caller, request.params.id)
    if (!outcome.ok) return no(reply, outcome)
    if (outcome.known) return reply.code(204).send()
    return reply.code(404).send(encodeError(refuse('token_invalid'), 'token_unknown', hub.now()))
  })

  app.post('/tokens/session', async (request, reply) => {
    const checked = checkSession(request.body ?? {})
    if (!checked.ok) return no(reply, checked)
    const { scopes, ttl_seconds } = checked.message
    const outcome = await openSession(hub, request.caller, {
      ...(scopes && { scopes }),
      ...(ttl_seconds !== undefined && { ttlMs: ttl_seconds * 1_000 }),
    })
    if (!outcome.ok) return no(reply, outcome)
    const { text, expiresAt } = outcome
    return reply
      .code(201)
      .send({ token: text, scopes: outcome.scopes, expires_at: writeInstant(expiresAt) })
  })
}

function termsIn({ scopes, expires_at, spending_cap }: Static<typeof NewToken>): TokenAsked {
  return {
    ...(scopes && { scopes }),
    ...(expires_at !== undefined && { expiresAt: instantOf(expires_at) }),
    ...(spending_cap !== undefined && { capCents: centsOf(spending_cap) }),
  }
}

/** The one answer that shows a token's text. */
const encodeMade = ({ text, terms: made }: TokenMade) => ({ token: text, ...encodeTerms(made) })

const encodeTerms = ({ id, kind, owner, scopes, expiresAt, capCents }: TokenTerms) => ({
  id,
  kind,
  ...(owner !== undefined && { owner_id: owner }),
  scopes,
  ...(expiresAt !== undefined && { expires_at: writeInstant(expiresAt) }),
  ...(capCents !== undefined && { spending_cap: writeCents(capCents) }),
})

const encodeToken = (token: Token) => ({
  ...encodeTerms(token),
  issued_at: writeInstant(token.issuedAt),
  spent: writeCents(token.spentCents),
  ...(token.revokedAt !== undefined && { revoked_at: writeInstant(token.revokedAt) }),
})
