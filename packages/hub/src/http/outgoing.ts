/**
 * Both guards of HTTP in one place: what an answer may show, and what a body may bring.
 *
 *   M1  Every JSON answer passes the guard under its name: the one that the table of calls has for
 *       its path, or the error of its door. One that may not leave becomes our own failure, in the
 *       words of the dialect.
 *   M2  A body that holds a secret is refused before anything is done with it: whatever agents say
 *       of themselves is there to be shown, and what could not be shown must not be kept. Messages
 *       whose task is to bring one say so.
 */

import { type Find, secretFinder } from '@chimera/dialects/outgoing'
import { refuse } from '@chimera/domain/decision'
import { LIMITS } from '@chimera/domain/limits'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Guard, MessageName } from '../guard.ts'
import { Denied } from './access.ts'
import type { Call } from './describe.ts'
import { doorOf } from './doors.ts'
import { CALLS } from './openapi.ts'
import { messageOf } from './published.ts'

/** What went wrong was said to the log by the guard; a caller hears that it is our fault. */
export class Unsendable extends Error {
  readonly code = 'unsendable'
  readonly statusCode = 500
  constructor() {
    super('an answer did not leave')
  }
}

type Named = {
  readonly answer: MessageName | undefined
  readonly error: MessageName
  readonly findSecrets: (body: unknown) => readonly Find[]
}

// Answered before the request has a door: its headers were too many.
const TOO_MANY_FIELDS = 431
const UNKNOWN: Named = { answer: 'unnamed', error: 'error', findSecrets: secretFinder() }

export function guardMessages(app: FastifyInstance, guard: Guard): void {
  const named = new Map<string, Named>(
    CALLS.map((call) => [`${call.method.toUpperCase()} ${call.path}`, namesOf(call)]),
  )
  // By the route as the router writes it, once for each.
  const byRoute = new Map<string, Named>()

  function namesFor({ method, routeOptions: { url = '' } }: FastifyRequest): Named {
    const route = `${method === 'HEAD' ? 'GET' : method} ${url}`
    const known = byRoute.get(route)
    if (known !== undefined) return known
    const names = named.get(route.replace(/:(\w+)/g, '{$1}')) ?? UNKNOWN
    byRoute.set(route, names)
    return names
  }

  app.addHook('preHandler', (request, _, done) => {
    const { body } = request
    if (body === undefined || body === null) return done()
    const finds = namesFor(request).findSecrets(Buffer.isBuffer(body) ? parsed(body) : body)
    done(finds.length > 0 ? withSecret(finds) : undefined)
  })

  app.addHook('preSerialization', (request, reply, payload, done) => {
    const names = request.is404 ? UNKNOWN : namesFor(request)
    const failed = reply.statusCode >= 400
    const error = reply.statusCode === TOO_MANY_FIELDS ? 'error' : names.error
    const name = failed ? error : names.answer
    if (name === undefined) return done(null, payload)
    const passed = guard.pass(name, payload as object, request.log)
    return passed === undefined ? done(new Unsendable()) : done(null, passed)
  })
}

function namesOf({ path, answer, body, fixed }: Call): Named {
  const takes = body === undefined ? undefined : messageOf(body)?.carries
  return {
    answer: fixed ? undefined : (answer ?? 'unnamed'),
    error: doorOf(path).error,
    findSecrets: secretFinder(takes),
  }
}

/** What is no JSON is refused by whoever reads it. */
function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}

function withSecret(finds: readonly Find[]): Denied {
  const issues = finds.slice(0, LIMITS.issues).map(({ path }) => ({
    path,
    expected: 'no credential, key or token: it would be shown to others',
    got: 'what looks like one',
  }))
  return new Denied(refuse('message_malformed', { issues }))
}
