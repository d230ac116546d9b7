/**
 * The guard on the way out: every message that the hub sends, over HTTP or to whoever
 * listens, passes here under its name, and leaves only if it is what its schema says and shows
 * nothing that must not be shown.
 *
 *   G1  What may not leave is our own bug: it is counted, and logged by place and kind, never with
 *       the thing itself.
 *   G2  Messages that hand on what others wrote are stopped by a secret; answers that the hub puts
 *       together itself lose it and go (dialects/outgoing.ts).
 */
import { DIALECTS } from '@chimera/dialects/dialects'
import { ErrorBody } from '@chimera/dialects/error'
import type { Messages } from '@chimera/dialects/messages'
import { type Find, type Outgoing, type OutgoingRules, sender } from '@chimera/dialects/outgoing'
import { AnyObject } from '@chimera/dialects/wire'
import type { Log } from '@chimera/host/log'
import type { Metrics } from '@chimera/host/metrics'
import type { TSchema } from 'typebox'

/** By dialect and message; `error` for a caller whose dialect is not known. */
export type MessageName = `${string}/${string}` | 'error' | 'unnamed'

export type Guard = {
  /** The message as it may leave; undefined when it may not. `log` is of whom it is about. */
  readonly pass: (name: MessageName, message: object, log?: Told) => object | undefined
}

type Told = {
  readonly warn: (fields: object, text: string) => void
  readonly error: (fields: object, text: string) => void
}

type Send = (message: object) => Outgoing<object>

export type GuardOptions = { readonly metrics: Metrics; readonly log: Log }

export function createGuard({ metrics, log }: GuardOptions): Guard {
  const senders = new Map<MessageName, Send>()
  const refused = metrics.counter({
    name: 'outgoing_refused_total',
    help: 'Messages that did not leave, since they were malformed or held a secret',
    labels: ['message'],
  })
  const blackened = metrics.counter({
    name: 'outgoing_blackened_total',
    help: 'Messages that lost something that must not be shown',
    labels: ['message'],
  })

  function senderOf(name: MessageName): Send {
    const known = senders.get(name)
    if (known !== undefined) return known
    const { schema, rules } = published(name)
    const made = sender<object>(schema, rules)
    senders.set(name, made)
    return made
  }

  return {
    pass(name, message, told = log) {
      const outcome = senderOf(name)(message)
      if (outcome.ok) {
        if (outcome.blackened.length > 0) {
          blackened.add({ message: name })
          told.warn({ message: name, finds: places(outcome.blackened) }, 'blackened')
        }
        return outcome.message
      }
      refused.add({ message: name })
      const finds =
        outcome.because === 'secret'
          ? places(outcome.finds)
          : outcome.refused.particulars.issues?.map(({ path, expected }) => `${path}: ${expected}`)
      told.error({ message: name, because: outcome.because, finds }, 'a message did not leave')
      return undefined
    },
  }
}

// A log line has room for so many; the first say what is wrong.
const MOST_FINDS = 10

const places = (finds: readonly Find[]): readonly string[] =>
  finds.slice(0, MOST_FINDS).map(({ path, kind }) => `${path}: ${kind}`)

type Published = { readonly schema: TSchema; readonly rules: OutgoingRules }

function published(name: MessageName): Published {
  if (name === 'error') return { schema: ErrorBody, rules: { found: 'blacken' } }
  const [dialect = '', message = ''] = name.split('/')
  const dialects: Readonly<Record<string, Messages>> = DIALECTS
  const found = dialects[dialect]?.[message]
  // An answer without a schema of its own is looked through all the same.
  if (found === undefined) return { schema: AnyObject, rules: { found: 'blacken' } }
  const { schema, carries = [], quotes = false } = found
  return { schema, rules: { carries, found: quotes ? 'stop' : 'blacken' } }
}
