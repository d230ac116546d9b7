/**
 * Obeying the operator (SF-11, SF-13): orders are fetched from the hub, verified here, obeyed and
 * acknowledged. The rules are the domain's (`decideObey`).
 *
 *   V1  Only what the configured key has signed is obeyed. Without such a key in the settings
 *       nobody is obeyed and nobody is asked, for a hub that names its own key proves nothing.
 *   V2  What holds is asked for whole, each time: at most one order for each lever. So nothing is
 *       missed, whatever was refused, lost or came out of order before.
 *   V3  An order is acknowledged after it was obeyed, and again until the hub has heard it.
 *   V4  An order that ends by itself ends at its time, asked or not.
 */
import { CONTROL_MESSAGES, readControlOrder } from '@chimera/dialects/chimera'
import {
  type Addressed,
  applyObeyed,
  conditionCommands,
  decideObey,
  nextExpiryAt,
  type Obedience,
  type ObeyRefusal,
  openObedience,
  rolloutCommandOf,
  type Steering,
  steeringOf,
} from '@chimera/domain/control'
import type { ControlId, PublicKey } from '@chimera/domain/ids'
import type { RolloutCommand } from '@chimera/domain/voice/rollout'
import type { Chance } from '@chimera/host/chance'
import type { Clock, Timer } from '@chimera/host/clock'
import type { Log } from '@chimera/host/log'
import { createKeyring } from '@chimera/identity/keyring'
import { decodePublicKey, keyIdOf } from '@chimera/identity/keys'
import { verifyMessage } from '@chimera/identity/message'
import type { HubClient } from '../hub/client.ts'
import type { Lifecycle } from './lifecycle.ts'

export type OrdersHands = {
  readonly hub: Pick<HubClient, 'get' | 'post'>
  /** The key that is obeyed, by the settings. */
  readonly hubKey: PublicKey
  readonly addressed: Addressed
  readonly lifecycle: Lifecycle
  /** The status feed, where there is one. */
  readonly steer?: (steering: Steering, command?: RolloutCommand) => void
  readonly clock: Clock
  readonly chance: Pick<Chance, 'fraction'>
  readonly log: Log
}

export type Heard = 'obeyed' | 'nothing_new' | ObeyRefusal | 'message_malformed'

export type Orders = {
  /** Begins to ask; resolves after the first time. */
  readonly open: () => Promise<void>
  /** Asks now; resolves when what holds has been obeyed. */
  readonly ask: () => Promise<void>
  /** One message, however it came: by asking, or from a bus. */
  readonly hear: (message: unknown) => Heard
  readonly steering: () => Steering
  readonly close: () => Promise<void>
}

// "Every half minute or so"; a fifth earlier by chance, so that a fleet does not ask at once.
const EVERY_MS = 30_000
const SPREAD = 0.2
const ASKING_MS = 5_000

/** Throws for a key that is none: a mistake of whoever wrote the settings. */
export function createOrders(hands: OrdersHands): Orders {
  const { hub, hubKey, addressed, lifecycle, clock, log } = hands
  if (decodePublicKey(hubKey) === undefined) {
    throw new TypeError('hubKey: expected the public_key that `chimera keys show hub` shows')
  }
  const pinned = keyIdOf(hubKey)
  const keyring = createKeyring(1)
  const closing = new AbortController()
  const unacknowledged = new Set<ControlId>()
  let obedience: Obedience = openObedience(addressed)
  let steering: Steering = {}
  let asking: Promise<void> | undefined
  let nextAsk: Timer | undefined
  let nextEnd: Timer | undefined
  let refused = ''

  function hear(message: unknown): Heard {
    const read = readControlOrder(message)
    if (!read.ok) return note(read.refusal, {})
    const { value: order } = read
    // It has been read as an object.
    const proven = verifyMessage(message as object, hubKey, keyring).ok
    const received = { order, signedBy: proven ? pinned : undefined }
    const decision = decideObey(obedience, received, { hubKey: pinned, now: clock.now() })
    if (!decision.ok) return note(decision.refusal, { order: order.id })
    if (decision.facts.length === 0) return 'nothing_new'
    obedience = decision.facts.reduce(applyObeyed, obedience)
    const { reason, action } = order
    log.info({ order: order.id, action: action.type, reason }, 'an order is obeyed')
    steerBy(rolloutCommandOf(action))
    unacknowledged.add(order.id)
    return 'obeyed'
  }

  function note(refusal: ObeyRefusal | 'message_malformed', fields: object): Heard {
    log.warn({ ...fields, refusal }, 'an order is not obeyed')
    return refusal
  }

  /** Brings lifecycle and feed to what the orders that hold make of them. */
  function steerBy(command?: RolloutCommand): void {
    const before = steering
    steering = steeringOf(obedience, clock.now())
    const { name } = lifecycle.standing().condition
    for (const each of conditionCommands(before, steering, name)) {
      const done = lifecycle.order(each)
      if (!done.ok) log.warn({ command: each.type, refusal: done.refusal }, 'an order cannot be')
    }
    hands.steer?.(steering, command)
    nextEnd?.cancel()
    const endsAt = nextExpiryAt(obedience, clock.now())
    nextEnd =
      endsAt === undefined || closing.signal.aborted
        ? undefined
        : clock.after(endsAt - clock.now(), () => steerBy())
  }

  async function askOnce(): Promise<void> {
    const terms = { tries: 1, timeoutMs: ASKING_MS, signal: closing.signal }
    const answer = await hub.get(`/v1/control/${addressed.agent}`, terms)
    if (answer.ok) {
      refused = ''
      const read = CONTROL_MESSAGES['control-orders'].read(answer.body)
      if (!read.ok) note(read.refusal, {})
      else for (const message of read.value.orders) hear(message)
    } else if (answer.code !== refused) {
      // Once for each trouble: it will be asked again in half a minute.
      refused = answer.code
      log.warn({ code: answer.code }, 'the hub was asked for orders in vain')
    }
    for (const id of unacknowledged) await acknowledge(id)
  }

  async function acknowledge(id: ControlId): Promise<void> {
    const terms = { tries: 1, timeoutMs: ASKING_MS, signal: closing.signal }
    const answer = await hub.post(`/v1/control/${id}/seen`, undefined, terms)
    // A hub that does not know the order will not know it next time.
    if (answer.ok || (answer.kind === 'refused' && !answer.retryable)) unacknowledged.delete(id)
  }

  function ask(): Promise<void> {
    asking ??= askOnce()
      .catch((error: unknown) => log.error({ err: error }, 'orders could not be read'))
      .finally(() => {
        asking = undefined
      })
    return asking
  }

  async function beat(): Promise<void> {
    await ask()
    if (closing.signal.aborted) return
    const ms = EVERY_MS * (1 - SPREAD * hands.chance.fraction())
    nextAsk = clock.after(ms, () => void beat())
  }

  return {
    open: beat,
    ask,
    hear,
    steering: () => steering,
    close: async () => {
      closing.abort()
      nextAsk?.cancel()
      nextEnd?.cancel()
      await asking
    },
  }
}
