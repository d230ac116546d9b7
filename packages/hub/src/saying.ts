/**
 * What a hub says at the broker, and where: under the subjects of the documents and our own.
 *
 *   S1  It bears a mark, by which hubs know what was said by one of them.
 *   S2  What must not be lost is kept by a stream; what is said again and again is not.
 *   S3  An order goes to whom it is for, one by one or to all: an owner's name is no subject.
 *   S4  Results are others' affair, and are said only where nobody else can listen.
 */
import { readControlOrder } from '@chimera/dialects/chimera'
import { controlSubject, placeOf } from '@chimera/dialects/topics'
import type { Addressee } from '@chimera/domain/control'
import type { AgentId, CorrelationId, MessageId, OwnerId } from '@chimera/domain/ids'
import type { Log } from '@chimera/host/log'
import type { Topic } from './ports/bus.ts'
import type { Carrier } from './ports/carrier.ts'

/** What a message of a hub has in front of its id. */
export const MARK = 'hub:'

/** What is said at the broker when it is said in this process. */
export const SAID: readonly Topic[] = [
  'presence',
  'capability',
  'identity',
  'status',
  'reputation',
  'control',
  'result',
]

export type SayingOptions = {
  readonly carrier: Pick<Carrier, 'publish' | 'store'>
  readonly log: Log
  readonly uuid: () => string
  /** Everybody hears its own only, or there is nobody to hide anything from. */
  readonly secluded: boolean
  readonly agentsOf: (owner: OwnerId) => Promise<readonly AgentId[]>
}

export type Say = (topic: Topic, message: object) => void

export function createSaying(options: SayingOptions): Say {
  const { carrier, log, uuid, secluded, agentsOf } = options

  const headersOf = (id: string, correlation: CorrelationId | undefined) => ({
    id: `${MARK}${id}` as MessageId,
    ...(isHeader(correlation) && { correlation }),
  })

  async function addressees(to: Addressee): Promise<readonly (AgentId | 'all')[]> {
    if (to.kind === 'all') return ['all']
    return to.kind === 'agent' ? [to.agent] : agentsOf(to.owner)
  }

  async function sayOrder(message: object): Promise<void> {
    const read = readControlOrder(message)
    if (!read.ok) return
    const { id, to } = read.value
    const bytes = Buffer.from(JSON.stringify(message))
    for (const each of await addressees(to)) {
      const headers = headersOf(uuid(), id as string as CorrelationId)
      carrier.publish({ subject: controlSubject(each), bytes, headers })
    }
  }

  return (topic, message) => {
    if (topic === 'control') {
      // Agents also ask for their orders.
      sayOrder(message).catch((error: unknown) => log.warn({ err: error }, 'no order was said'))
      return
    }
    if (topic === 'result' && !secluded) return
    const place = placeOf(topic, message)
    if (place === undefined) return
    const { subject, correlation, same } = place
    const bytes = Buffer.from(JSON.stringify(message))
    const headers = headersOf(same ?? uuid(), correlation)
    if (!KEPT.has(topic)) return void carrier.publish({ subject, bytes, headers })
    // The hub has it, and whoever misses it asks for it.
    carrier.store({ subject, bytes, headers }).catch((error: unknown) => {
      log.warn({ err: error, subject, topic }, 'something was not kept on the bus')
    })
  }
}

const KEPT: ReadonlySet<Topic> = new Set<Topic>(['reputation', 'result'])

// As the bus has it: one line of visible characters, not too many.
const HEADER = /^[\x21-\x7e]([\x20-\x7e]{0,254}[\x21-\x7e])?$/

const isHeader = (text: CorrelationId | undefined): text is CorrelationId =>
  text !== undefined && HEADER.test(text)
