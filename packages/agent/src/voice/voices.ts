/**
 * One lifecycle, all voices: registration, identity, capabilities, presence, OpenClaw status and
 * the status feed, each said when it is due and none in another's way.
 *
 *   V1  Nothing is said of an agent that the hub has not registered; what changes in what it offers
 *       is registered before it is advertised.
 *   V2  A hub that does not know the agent (any more) is told everything anew.
 *   V3  Goodbye comes first: a stop is told before anything else ends, and is bounded (AV-5).
 *   V4  A deprecated skill leaves the offer at its end, by itself (SK-5). Who has nothing to offer
 *       any more is paused.
 */
import { join } from 'node:path'
import type { Standing } from '@chimera/domain/agent/condition'
import type { Alias, CorrelationId, OwnerId, PublicKey } from '@chimera/domain/ids'
import type { WindowRecord } from '@chimera/domain/trust/window-score'
import { MANNERS, type Manner, type Saying, type Spoken } from '@chimera/domain/voice/cadence'
import { failureOf, type PublishOutcome } from '@chimera/domain/voice/publishing'
import type { Chance } from '@chimera/host/chance'
import type { Clock, Timer } from '@chimera/host/clock'
import type { Log } from '@chimera/host/log'
import type { Metrics } from '@chimera/host/metrics'
import type { HubClient, HubRefused } from '../hub/client.ts'
import {
  capabilitiesOf,
  declarationOf,
  digestOffered,
  identityOf,
  type Offered,
  type Portrayed,
  registrationOf,
} from '../self/portrait.ts'
import { type Rotated, rotateKey, settleRotation } from '../self/rotation.ts'
import type { Self } from '../self/self.ts'
import { createHubCourse } from './course.ts'
import { createFeedVoice, type FeedTerms, type FeedVoice, type VoiceAlert } from './feed.ts'
import { type FeedDoor, type FeedDoorOptions, openFeedDoor } from './feed-door.ts'
import type { Lifecycle } from './lifecycle.ts'
import { createLoad, type Load } from './load.ts'
import { createOrders, type Orders } from './orders.ts'
import { createHubOutlet, type Outlet, SAYING_MS, type Topic, toldBy } from './outlet.ts'
import { openRolloutFile } from './rollout-file.ts'
import {
  declarationSaying,
  presenceMessage,
  presenceSaying,
  statusMessage,
  statusSaying,
  urgencyOf,
} from './sayings.ts'
import { createSpeaker, type Speaker } from './speaker.ts'

export type VoicesHands = {
  readonly self: Self
  readonly owner: OwnerId
  readonly lifecycle: Lifecycle
  /** What is offered now; asked at the start and when `changed` is called. */
  readonly offered: () => Offered
  readonly hub: Pick<HubClient, 'get' | 'post'>
  /** Where presence, capabilities, identity and status are said. Default: at the hub over HTTP. */
  readonly outlet?: Outlet
  /** The key whose orders are obeyed; without it nobody's are. */
  readonly hubKey?: PublicKey
  /** Where the status feed is, how to prove who publishes, and whether; absent: there is none. */
  readonly feed?: FeedSettings
  readonly openDoor?: (options: FeedDoorOptions) => FeedDoor
  readonly window?: () => WindowRecord
  readonly load?: () => Load
  readonly alert?: (alert: VoiceAlert) => void
  readonly clock: Clock
  readonly chance: Chance
  readonly log: Log
  readonly metrics: Metrics
}

export type FeedSettings = FeedTerms &
  Omit<FeedDoorOptions, 'key' | 'clock'> & {
    /** The name in the feed. Default: the agent's. */
    readonly alias?: string
  }

export type Started =
  | { readonly is: 'registered' }
  /** The hub does not answer; it is tried again, and everything is said once it does. */
  | { readonly is: 'waiting' }
  /** The hub says no, and will again: the owner, the key or the token is wrong. */
  | { readonly is: 'refused'; readonly answer: HubRefused }

export type Voices = {
  /**
   * Registers and begins to speak. Resolves when the instance is listed, or after the first try
   * that failed.
   */
  readonly start: () => Promise<Started>
  /** Whether the hub has taken the agent in. */
  readonly registered: () => boolean
  /** What is offered has changed (OC-1, AV-2). */
  readonly changed: () => void
  /** Resolves when all that is so has been said and taken, or the signal is aborted: then false. */
  readonly said: (signal: AbortSignal) => Promise<boolean>
  /** A new key, introduced by the old one; everything is then signed by it. */
  readonly rotate: () => Promise<Rotated>
  readonly feed?: FeedVoice
  readonly orders?: Orders
  /** Says that it is gone, and ends. */
  readonly stop: (signal: AbortSignal) => Promise<void>
}

// Whose refusal means that the hub does not know the agent, or not by this key.
const UNKNOWN = 404
const FEED_FILE = 'feed.json'
const UNPROVEN: readonly number[] = [401, 403]

export function createVoices(hands: VoicesHands): Voices {
  const { self, owner, lifecycle, hub, clock, chance, log } = hands
  const { outlet = createHubOutlet(hub), load = createLoad() } = hands
  const correlation = (): CorrelationId => chance.uuid() as CorrelationId
  const fraction = (): number => chance.fraction()
  // What is registered is what is advertised (V1).
  let wanted = hands.offered()
  let offered = wanted
  let registered = false
  let refusedBy: HubRefused | undefined
  let begun: Promise<void> | undefined
  let firstTry: ((outcome: PublishOutcome) => void) | undefined
  let ending: Timer | undefined

  // Asked with every change of the workload, so not made anew each time.
  let names = capabilitiesOf(offered)
  let digest = digestOffered(offered)

  const standing = (): Standing => lifecycle.standing()
  const capabilities = (): readonly string[] => names
  const portrayed = (): Portrayed => ({
    self,
    owner,
    offered,
    standing: standing(),
    correlation: correlation(),
    ...(hands.window && { window: hands.window() }),
  })
  const once = (state: string): Saying<string> => ({ state, rhythm: 'silent' })
  const declared = (): Saying<string> =>
    declarationSaying(standing(), `${digest} ${self.keys.pair().id}`)

  const registration = createSpeaker({
    clock,
    manner: MANNERS.openclaw,
    course: createHubCourse({ fraction, refused: 'repeat' }),
    first: once(digestOffered(wanted)),
    lastWord: false,
    send: async (_, signal) => {
      const sent = wanted
      const message = registrationOf({ ...portrayed(), offered: sent }, clock.now())
      const terms = { tries: 1, timeoutMs: SAYING_MS, signal }
      const answer = await hub.post('/register', message, terms)
      refusedBy = !answer.ok && answer.kind === 'refused' ? answer : undefined
      const { outcome, why } = toldBy(answer)
      if (!answer.ok) log.warn({ why }, 'not registered')
      else {
        offered = sent
        names = capabilitiesOf(sent)
        digest = digestOffered(sent)
      }
      return outcome
    },
    ended: (outcome) => {
      if (failureOf(outcome) === undefined) advertise()
      firstTry?.(outcome)
    },
  })

  /** What is said to the hub under a topic: made when it is sent, so that it is true then. */
  function speakerOf(
    topic: Topic,
    manner: Manner,
    refused: 'drop' | 'repeat',
    first: Saying<string>,
    message: (spoken: Spoken<string>) => object,
  ): Speaker<string> {
    return createSpeaker({
      clock,
      manner,
      course: createHubCourse({ fraction, refused }),
      first,
      // Who leaves says so by presence and status, and advertises nothing any more.
      lastWord: refused === 'drop',
      send: async (spoken, signal) => {
        const { outcome, why } = await outlet.say(topic, message(spoken), signal)
        if (failureOf(outcome) !== undefined) await consider(topic, outcome, why)
        return outcome
      },
    })
  }

  async function consider(topic: Topic, outcome: PublishOutcome, why?: string): Promise<void> {
    log.warn({ topic, why }, 'the hub did not take what was said')
    if (outcome.type !== 'answered') return
    if (outcome.status === UNKNOWN) registration.again()
    // Another copy of this agent may have rotated the key that they share.
    const unproven = UNPROVEN.includes(outcome.status)
    if (unproven && (await self.keys.reload().catch(() => false))) resign()
  }

  const identity = speakerOf('identity', MANNERS.openclaw, 'repeat', once(digest), ({ stamp }) =>
    identityOf(portrayed(), stamp),
  )
  const declaration = speakerOf('capability', MANNERS.presence, 'repeat', declared(), ({ stamp }) =>
    declarationOf(portrayed(), stamp),
  )
  const presence = speakerOf(
    'presence',
    MANNERS.presence,
    'drop',
    presenceSaying(standing(), capabilities()),
    ({ stamp }) =>
      presenceMessage({ ...portrayed(), capabilities: capabilities(), load: load() }, stamp),
  )
  const status = speakerOf('status', MANNERS.openclaw, 'drop', statusSaying(standing()), (spoken) =>
    statusMessage(portrayed(), spoken),
  )
  const feed = hands.feed && openFeed(hands.feed)
  const toHub = [identity, declaration, presence, status]
  const orders =
    hands.hubKey === undefined
      ? undefined
      : createOrders({
          hub,
          hubKey: hands.hubKey,
          addressed: { agent: self.agent, owner },
          lifecycle,
          ...(feed && { steer: feed.steer }),
          clock,
          chance,
          log,
        })

  function openFeed({ alias = wanted.name, ...settings }: FeedSettings): FeedVoice {
    const { openDoor = openFeedDoor } = hands
    const { enabled = true, stage = 'everybody', url } = settings
    const choice = [enabled, stage, url].join(' ')
    const { directory } = self
    return createFeedVoice({
      alias: alias as Alias,
      door: openDoor({ ...settings, key: self.keys.pair, clock }),
      terms: settings,
      kept:
        directory === undefined ? undefined : openRolloutFile(join(directory, FEED_FILE), choice),
      standing,
      capabilities,
      clock,
      chance,
      log,
      metrics: hands.metrics,
      alert: (alert) => {
        log.error({ alert: alert.kind }, alert.words)
        hands.alert?.(alert)
      },
    })
  }

  /** V4. */
  function takeUp(): void {
    const next = hands.offered()
    ending?.cancel()
    const now = clock.now()
    const ends = next.skills.flatMap(({ deprecation }) => deprecation?.removedAt ?? [])
    const endsAt = Math.min(...ends.filter((each) => each > now))
    if (Number.isFinite(endsAt)) ending = clock.after(endsAt - now, takeUp)
    if (next.skills.length === 0) {
      log.warn('there is nothing to offer any more: the agent is paused')
      lifecycle.order({ type: 'pause' })
      return
    }
    wanted = next
    registration.change(once(digestOffered(wanted)))
  }

  /** After each registration: to a hub that may have heard nothing of this yet. */
  function advertise(): void {
    identity.change(once(digest))
    declaration.change(declared())
    presence.change(presenceSaying(standing(), capabilities()))
    feed?.changed('usual')
    if (registered) {
      for (const each of toHub) each.again()
      return
    }
    registered = true
    begun = begin()
  }

  /** Orders come first: who was told to pause or not to publish does not begin by doing it. */
  async function begin(): Promise<void> {
    await Promise.all([orders?.open(), outlet.open?.()])
    for (const each of toHub) each.open()
    feed?.open()
  }

  /** Whoever starts an agent wants it found: its first post is waited for, but not for ever. */
  async function listed(): Promise<void> {
    const late = new AbortController()
    const timer = clock.after(SAYING_MS, () => late.abort())
    await Promise.all([declaration, presence].map((each) => each.settled(late.signal)))
    timer.cancel()
  }

  function resign(): void {
    log.info({ key: self.keys.pair().id }, 'another key speaks from now on')
    declaration.change(declared())
    presence.again()
  }

  const unwatch = lifecycle.watch((now, before) => {
    const urgency = urgencyOf(now, before)
    presence.change(presenceSaying(now, capabilities()), urgency)
    status.change(statusSaying(now), urgency)
    feed?.changed(urgency)
    // Who has stopped has said so by its presence, and declares nothing any more.
    if (now.condition.name !== 'stopped') declaration.change(declared(), urgency)
  })

  const everyone = (): readonly Pick<Speaker<string>, 'settled' | 'close'>[] => [
    registration,
    ...toHub,
    ...(feed ? [feed] : []),
  ]

  return {
    ...(feed && { feed }),
    ...(orders && { orders }),
    start: async () => {
      lifecycle.order({ type: 'start' })
      await settleRotation({ agent: self.agent, keys: self.keys, hub, clock })
      takeUp()
      const tried = new Promise<PublishOutcome>((resolve) => {
        firstTry = resolve
      })
      registration.open()
      const failure = failureOf(await tried)
      if (failure === undefined) {
        await begun
        await listed()
        return { is: 'registered' }
      }
      const answer = refusedBy
      if (answer === undefined || answer.retryable) return { is: 'waiting' }
      await registration.close(AbortSignal.abort())
      return { is: 'refused', answer }
    },
    registered: () => registered,
    changed: takeUp,
    said: async (signal) => {
      const all = await Promise.all(everyone().map((each) => each.settled(signal)))
      return all.every(Boolean)
    },
    rotate: async () => {
      const rotated = await rotateKey({ agent: self.agent, keys: self.keys, hub, clock })
      if (rotated.is === 'rotated') resign()
      return rotated
    },
    stop: async (signal) => {
      lifecycle.order({ type: 'stop' })
      unwatch()
      ending?.cancel()
      firstTry?.({ type: 'unanswered' })
      await orders?.close()
      await Promise.all(everyone().map((each) => each.close(signal)))
    },
  }
}
