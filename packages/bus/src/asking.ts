/**
 * Questions of one link that wait for their answer. An answer comes under the link's own inbox,
 * with the question's number as its last word.
 */
import { Failure } from './failure.ts'
import type { BusClock, Delivery } from './link.ts'
import type { Message, RequestOptions } from './port.ts'

export type Asking = {
  readonly ask: (message: Message, options: AskOptions) => Promise<Delivery>
  /** Something came into the inbox. */
  readonly answered: (delivery: Delivery) => void
  /** The broker says that nobody will answer. */
  readonly nobody: (replyTo: string) => void
  /** The broker does not let us say anything there. */
  readonly forbid: (subject: string) => void
  /** The link is lost. */
  readonly abandon: (reason: string) => void
}

export type AskOptions = RequestOptions & {
  /** Whether this is the answer. The first is, unless something else may come by. */
  readonly accepts?: (delivery: Delivery) => boolean
}

export type AskingOptions = {
  readonly clock: BusClock
  readonly inbox: string
  readonly most: number
  readonly send: (message: Message, replyTo: string) => void
}

type Waiting = {
  readonly subject: string
  readonly accepts: (delivery: Delivery) => boolean
  readonly resolve: (delivery: Delivery) => void
  readonly reject: (error: unknown) => void
}

export function createAsking({ clock, inbox, most, send }: AskingOptions): Asking {
  const waiting = new Map<string, Waiting>()
  let lost: string | undefined
  let asked = 0

  async function ask(message: Message, options: AskOptions): Promise<Delivery> {
    const { timeoutMs, signal, accepts = () => true } = options
    signal?.throwIfAborted()
    if (lost !== undefined) throw new Failure('broker_away', lost)
    if (waiting.size >= most) throw new Failure('requests_full', `${most} requests wait`)
    asked += 1
    const replyTo = `${inbox}.${asked}`
    const { subject } = message
    return new Promise<Delivery>((resolve, reject) => {
      const abort = (): void => leave(() => reject(signal?.reason))
      const late = (): void =>
        leave(() => reject(new Failure('request_timeout', `${subject}: ${timeoutMs} ms`)))
      const timer = clock.after(timeoutMs, late)
      const leave = (then: () => void): void => {
        if (!waiting.delete(replyTo)) return
        timer.cancel()
        signal?.removeEventListener('abort', abort)
        then()
      }
      waiting.set(replyTo, {
        subject,
        accepts,
        resolve: (delivery) => leave(() => resolve(delivery)),
        reject: (error) => leave(() => reject(error)),
      })
      signal?.addEventListener('abort', abort, { once: true })
      try {
        send(message, replyTo)
      } catch (error) {
        leave(() => reject(error))
      }
    })
  }

  return {
    ask,
    answered: (delivery) => {
      const question = waiting.get(delivery.subject)
      if (question?.accepts(delivery)) question.resolve(delivery)
    },
    nobody: (replyTo) => {
      const question = waiting.get(replyTo)
      question?.reject(new Failure('nobody_listens', question.subject))
    },
    forbid: (subject) => {
      for (const question of waiting.values()) {
        if (question.subject === subject) {
          question.reject(new Failure('subject_forbidden', `saying anything on ${subject}`))
        }
      }
    },
    abandon: (reason) => {
      lost ??= reason
      for (const { subject, reject } of waiting.values()) {
        reject(new Failure('answer_lost', `${subject}: ${reason}`))
      }
    },
  }
}
