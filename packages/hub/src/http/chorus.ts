/**
 * Chorus over HTTP. Every route is decode, act, encode, and decides nothing: what a message means
 * is written in dialects/chorus, what may happen in domain, what is kept in store.
 */
import { isText } from '@chimera/dialects/bounds'
import * as chorus from '@chimera/dialects/chorus'
import { isUuid, readUuid } from '@chimera/dialects/wire'
import { type Refused, refuse } from '@chimera/domain/decision'
import type { AgentId, OwnerId } from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'
import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import { beat, register, remove, show } from '../act/agents.ts'
import type { Hub } from '../act/hub.ts'
import { listTransfers, openAccount, showAccount, showEconomy, transfer } from '../act/money.ts'
import { reportFailure, reportSuccess, scoreOf } from '../act/reputation.ts'
import type { Guard } from '../guard.ts'
import { PUBLIC } from './access.ts'
import { isFault, refusalOf } from './failed.ts'
import { createHitWriter } from './hits.ts'
import { traceOf } from './trace.ts'

export type ChorusRoutes = { readonly hub: Hub; readonly guard: Guard }

const JSON_TYPE = 'application/json; charset=utf-8'

type ById = { readonly Params: { readonly id: string } }
type ByOwner = { readonly Params: { readonly owner: string } }
type Asked = { readonly Querystring: Record<string, string | string[]> }

export const chorusRoutes: FastifyPluginAsync<ChorusRoutes> = async (app, { hub, guard }) => {
  const writeHits = createHitWriter({ hub, guard })
  const no = (reply: FastifyReply, refused: Refused<Refusal>) => {
    const { status, body } = chorus.encodeRefusal(refused, hub.now())
    if (body.retry_after_seconds !== undefined)
      reply.header('retry-after', body.retry_after_seconds)
    return reply.code(status).send(body)
  }

  // A Chorus caller hears only Chorus, whatever went wrong.
  app.setErrorHandler((error, request, reply) => {
    const refused = refusalOf(error, hub.now())
    if (isFault(error, refused)) request.log.error({ err: error }, 'chorus failed')
    return no(reply, refused)
  })

  app.post('/register', async (request, reply) => {
    const read = chorus.readRegistration(request.body)
    if (!read.ok) return no(reply, read)
    const outcome = await register(hub, request.caller, read.value)
    if (!outcome.ok) return no(reply, outcome)
    return reply.code(201).send(chorus.encodeRegistered(outcome.agent.id, outcome.scoreMicro))
  })

  app.post('/heartbeat', async (request, reply) => {
    const read = chorus.readHeartbeat(request.body)
    if (!read.ok) return no(reply, read)
    const outcome = await beat(hub, request.caller, read.value.agent)
    return outcome.ok ? chorus.encodeHeartbeatSeen(read.value.agent, hub.now()) : no(reply, outcome)
  })

  app.get<Asked>('/discover', PUBLIC, async (request, reply) => {
    const read = chorus.readDiscovery(request.query)
    if (!read.ok) return no(reply, read)
    return reply.type(JSON_TYPE).send(writeHits(read.value, request.log, traceOf(request)))
  })

  app.get<ById>('/agents/:id', PUBLIC, async (request, reply) => {
    const outcome = await show(hub, agentIn(request.params))
    if (!outcome.ok) return no(reply, outcome)
    return chorus.encodeAgentEntry(outcome.agent, outcome.scoreMicro, outcome.online)
  })

  app.delete<ById>('/agents/:id', async (request, reply) => {
    const outcome = await remove(hub, request.caller, agentIn(request.params))
    return outcome.ok ? reply.code(204).send() : no(reply, outcome)
  })

  app.get('/skills', PUBLIC, async () => chorus.encodeSkillList(hub.directory.skills()))

  app.get<ById>('/reputation/:id', PUBLIC, async (request, reply) => {
    const agent = agentIn(request.params)
    const outcome = scoreOf(hub, agent)
    return outcome.ok ? chorus.encodeReputation(agent, outcome.scoreMicro) : no(reply, outcome)
  })

  for (const [word, report] of [
    ['success', reportSuccess],
    ['failure', reportFailure],
  ] as const) {
    app.post<ById & Asked>(`/reputation/:id/${word}`, async (request, reply) => {
      const read = chorus.readReputationReport(request.query)
      if (!read.ok) return no(reply, read)
      const agent = agentIn(request.params)
      const outcome = await report(hub, request.caller, { agent, task: read.value.task })
      return outcome.ok ? chorus.encodeReputation(agent, outcome.scoreMicro) : no(reply, outcome)
    })
  }

  app.post('/accounts', async (request, reply) => {
    const read = chorus.readAccountOpening(request.body)
    if (!read.ok) return no(reply, read)
    const outcome = await openAccount(hub, request.caller, read.value)
    if (!outcome.ok) return no(reply, outcome)
    return reply.code(201).send(chorus.encodeAccount(outcome.owner, outcome.balanceCents))
  })

  app.get<ByOwner>('/accounts/:owner', async (request, reply) => {
    const { owner } = request.params
    if (!isText(owner)) return no(reply, refuse('account_unknown'))
    const outcome = await showAccount(hub, request.caller, owner as OwnerId)
    return outcome.ok
      ? chorus.encodeAccount(outcome.owner, outcome.balanceCents)
      : no(reply, outcome)
  })

  app.post('/transfer', async (request, reply) => {
    const read = chorus.readTransfer(request.body)
    if (!read.ok) return no(reply, read)
    const outcome = await transfer(hub, request.caller, read.value)
    return outcome.ok ? chorus.encodeTransferDone(outcome) : no(reply, outcome)
  })

  app.get<Asked>('/audit', async (request, reply) => {
    const read = chorus.readAuditQuery(request.query)
    if (!read.ok) return no(reply, read)
    const { type: _, ...filter } = read.value
    const outcome = await listTransfers(hub, request.caller, filter)
    if (!outcome.ok) return no(reply, outcome)
    return chorus.encodeAuditList(outcome.transfers, outcome.transfers.length)
  })

  app.get('/economy', async (request, reply) => {
    const outcome = await showEconomy(hub, request.caller)
    return outcome.ok ? chorus.encodeEconomy(outcome) : no(reply, outcome)
  })
}

/** What is not a uuid names no agent, and is answered like any other unknown one. */
function agentIn({ id }: { readonly id: string }): AgentId {
  return isUuid(id) ? readUuid<AgentId>(id) : (id as AgentId)
}
