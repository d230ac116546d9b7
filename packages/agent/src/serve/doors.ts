/** What every door of an agent is given, and what they have in common. */
import type { Socket } from 'node:net'
import { isUuid, readUuid } from '@chimera/dialects/wire'
import { type Refused, refuse } from '@chimera/domain/decision'
import type { TaskId, WorkId } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import type { Refusal } from '@chimera/domain/refusals'
import { endOf } from '@chimera/domain/work/work'
import type { Chance } from '@chimera/host/chance'
import type { Clock } from '@chimera/host/clock'
import type { Skill } from '@chimera/skill/contract'
import { isPromise, type Soon } from '@chimera/skill/soon'
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify'
import type { Network, Self } from '../ports.ts'
import type { Answered, AskedWork } from '../work/asking.ts'
import type { KeptWork } from '../work/keep.ts'
import { isConcerned } from '../work/requester.ts'
import type { Reserving } from '../work/reserving.ts'
import type { Workshop } from '../work/workshop.ts'
import type { Lane } from './lane.ts'
import type { Signers } from './signer.ts'

export type Doors = {
  readonly self: Self
  readonly network: Network
  readonly workshop: Workshop
  readonly reserving: Reserving
  readonly skills: readonly Skill[]
  readonly clock: Clock
  readonly chance: Chance
  readonly signerOf: Signers
  readonly bytesOf: (request: Came) => Buffer
  readonly lane: Lane
}

/** What the doors look at of a request: it came by Fastify or by the lane. */
export type Came = Pick<FastifyRequest, 'method' | 'url' | 'headers' | 'body' | 'params'> & {
  readonly socket: Pick<Socket, 'localAddress' | 'localPort'>
  readonly log: FastifyBaseLogger
}

/** What the doors say, by Fastify or by the lane. */
export type Reply = {
  code(status: number): Reply
  header(name: string, value: string | number): Reply
  type(type: typeof JSON_TYPE): Reply
  /** A text is JSON already. */
  send(body: object | string): Reply
}

export const JSON_TYPE = 'application/json; charset=utf-8'

/** What is served on both ways. It answers before it resolves. */
export type Way = {
  readonly answer: (request: Came, reply: Reply) => Promise<unknown>
  readonly failed: (error: unknown, request: Came, reply: Reply) => unknown
}

/** A door for POST on both ways, within a plugin that has set `failed` for all of its doors. */
export function openBoth(app: FastifyInstance, { lane }: Doors, path: string, way: Way): void {
  app.post(path, async (request, reply): Promise<void> => {
    await way.answer(request, reply)
  })
  lane.open(`${app.prefix}${path}`, way)
}

export type ById = { readonly Params: { readonly id: string } }

// The answer has to travel, too: a second of the ten (OC-11).
const ANSWER_MS = LIMITS.responseMs - 1_000

/** OC-11: an answer, always. What is decided after that is found by the same ask again. */
export function askInTime(
  { workshop, clock }: Pick<Doors, 'clock'> & { readonly workshop: Pick<Workshop, 'ask'> },
  asked: AskedWork,
): Soon<Answered> {
  const answered = workshop.ask(asked)
  return isPromise(answered) ? inTime(answered, clock) : answered
}

async function inTime(answered: Promise<Answered>, clock: Clock): Promise<Answered> {
  let timer: { readonly cancel: () => void } | undefined
  const late = new Promise<Answered>((resolve) => {
    timer = clock.after(ANSWER_MS, () =>
      resolve(refuse('service_unavailable', { retryAt: clock.now() + 1_000 })),
    )
  })
  try {
    return await Promise.race([answered, late])
  } finally {
    timer?.cancel()
  }
}

export type Found = { readonly ok: true; readonly kept: KeptWork } | Refused<Refusal>

/** Work by our name for it or by the requester's, for whoever it concerns. */
export async function findWork(
  { workshop, network, signerOf }: Doors,
  request: FastifyRequest<ById>,
): Promise<Found> {
  const signer = await signerOf(request)
  if (!signer.ok) return signer
  const { id: text } = request.params
  if (!isUuid(text)) return refuse('work_unknown')
  const id = readUuid<WorkId>(text)
  const kept = (await workshop.find(id)) ?? (await workshop.byTask(id as string as TaskId))
  if (kept === undefined) return refuse('work_unknown')
  if (await isConcerned(network, kept, signer.key)) return { ok: true, kept }
  return refuse(signer.key === undefined ? 'caller_unknown' : 'caller_forbidden')
}

/** `Prefer: wait=10` (RFC 7240): how long the caller would wait for the end. */
export function waitMs({ headers }: Pick<Came, 'headers'>): number | undefined {
  if (headers.prefer === undefined) return undefined
  const [, seconds] = /(?:^|[,;\s])wait=(\d{1,4})(?:$|[,;\s])/.exec(String(headers.prefer)) ?? []
  return seconds === undefined ? undefined : Math.min(Number(seconds) * 1_000, LIMITS.syncWaitMs)
}

export async function waited(
  { workshop }: Doors,
  request: Came,
  kept: KeptWork,
): Promise<KeptWork> {
  const ms = waitMs(request)
  return ms === undefined ? kept : workshop.ended(kept, ms)
}

/** SK-5: who asks for a version that goes is told until when it runs (RFC 9745, RFC 8594). */
export function tellNotice({ skills }: Doors, reply: Reply, { skill: id }: KeptWork): void {
  const { deprecation } = skills.find((each) => each.id === id) ?? {}
  if (deprecation === undefined) return
  const { declaredAt, removedAt } = deprecation
  reply.header('deprecation', `@${Math.floor(declaredAt / 1_000)}`)
  reply.header('sunset', new Date(removedAt).toUTCString())
}

export function hasEnded({ work: { state } }: KeptWork): boolean {
  return endOf(state) !== undefined || state.name === 'refused'
}
