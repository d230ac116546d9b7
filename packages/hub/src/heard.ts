/**
 * What the hub says, for whoever listens in this process. Whatever carries it further listens here.
 *
 *   E1  A message passes the guard before anybody hears it, unless it passed the same checks when
 *       it came in. With nobody listening nothing is done.
 *   E2  A listener that fails disturbs neither the hub nor the other listeners.
 */
import type { Log } from '@chimera/host/log'
import type { Guard, MessageName } from './guard.ts'
import type { Heard, Listener, Publish, Topic } from './ports/bus.ts'

const MESSAGES = {
  identity: 'openclaw/identity',
  status: 'openclaw/status-update',
  reputation: 'openclaw/reputation-update',
  presence: 'moltbook/presence',
  capability: 'moltbook/capability',
  control: 'chimera/control-order',
  result: 'openclaw/collaboration-result',
} as const satisfies Record<Topic, MessageName>

export type HeardOptions = { readonly guard: Guard; readonly log: Log }

export function createHeard({ guard, log }: HeardOptions): Heard & { readonly publish: Publish } {
  const listeners = new Map<Topic, ReadonlySet<Listener>>()
  const of = (topic: Topic): ReadonlySet<Listener> => listeners.get(topic) ?? new Set()

  return {
    subscribe(topic, listener) {
      // Each its own, so that the same function listening twice is two listeners.
      const mine: Listener = (message, received) => listener(message, received)
      listeners.set(topic, new Set([...of(topic), mine]))
      return () => {
        listeners.set(topic, new Set([...of(topic)].filter((each) => each !== mine)))
      }
    },

    publish(topic, message, received) {
      const hearing = of(topic)
      if (hearing.size === 0) return
      const passed = received === undefined ? guard.pass(MESSAGES[topic], message) : message
      if (passed === undefined) return
      for (const listener of hearing) {
        try {
          listener(passed, received)
        } catch (error) {
          log.warn({ err: error, topic }, 'a listener failed')
        }
      }
    },
  }
}
