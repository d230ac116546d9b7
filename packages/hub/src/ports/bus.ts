/**
 * What the hub says to whoever listens: its own words and those that it has accepted, each in the
 * words of the dialect that has a message for it.
 */
export type Topic =
  | 'identity'
  | 'status'
  | 'reputation'
  | 'presence'
  | 'capability'
  | 'control'
  | 'result'

/**
 * Says it and goes on: nobody waits for listeners, and what they do is their own affair.
 * `received` is the text that the message came as, for one that was read by its schema and
 * searched for secrets when it came in: it is not looked at again, nor written again.
 */
export type Publish = (topic: Topic, message: object, received?: string) => void

export type Listener = (message: object, received?: string) => void

export type Heard = {
  /** Answers how to stop listening. */
  readonly subscribe: (topic: Topic, listener: Listener) => () => void
}
