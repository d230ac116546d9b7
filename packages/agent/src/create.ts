/**
 * `createAgent`: an author's skills as a citizen of the network. It puts identity, voices, work and
 * the server together, and takes them apart again in good order.
 *
 *   C1  What is wrong with the options is said when the agent is created, before anything runs.
 *   C2  Nothing is begun before `start`, and `start` resolves when work can come in.
 *   C3  A stop tells the network first, finishes what runs, and is bounded in time (AV-5).
 */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { accepts } from '@chimera/domain/agent/condition'
import type { OwnerId, PublicKey } from '@chimera/domain/ids'
import { type Chance, createChance } from '@chimera/host/chance'
import { type Clock, createClock } from '@chimera/host/clock'
import { createGuardedClient } from '@chimera/host/guarded/client'
import { createLog, type Log } from '@chimera/host/log'
import { createMetrics, type Metrics } from '@chimera/host/metrics'
import { stopOnSignals } from '@chimera/host/signals'
import { createStop, type Stop, type StopReport } from '@chimera/host/stop'
import { createQuicken } from '@chimera/identity/quick'
import { createRunner, type Runner } from '@chimera/skill/runner'
import { joinBus } from './bus/join.ts'
import { connect, type Network as Hiring } from './hire/connect.ts'
import { createWithin } from './hire/within.ts'
import { createHubClient } from './hub/client.ts'
import { AgentError, type AgentOptions, checkOptions, DRAIN_MS, feedOf, SLOTS } from './options.ts'
import type { Self as Speaking } from './ports.ts'
import type { Rotated } from './self/rotation.ts'
import { openSelf } from './self/self.ts'
import { createServer } from './serve/server.ts'
import { createLifecycle, type Lifecycle } from './voice/lifecycle.ts'
import { createVoices, type Voices } from './voice/voices.ts'
import { createDesk } from './work/desk.ts'
import { createMemoryKeep } from './work/memory-keep.ts'
import { createNetwork } from './work/network.ts'
import { createReserving } from './work/reserving.ts'
import { createSignedResults } from './work/signed.ts'
import { createWorkshop, type Workshop } from './work/workshop.ts'

export { AgentError, type AgentOptions } from './options.ts'

export type Agent = {
  /** Resolves when the agent can be asked. Rejects where the hub will not have it. */
  readonly start: () => Promise<void>
  /** Finishes what runs, refuses the rest, and tells the network first (AV-5). */
  readonly drain: () => Promise<void>
  /** Drains for a bounded time, says goodbye, and lets go of everything. */
  readonly stop: (reason?: string) => Promise<StopReport>
  /** Of an agent that has started. */
  readonly id: () => string
  /** Where it is reached. */
  readonly address: () => string
  /** Whether the hub has taken it in; while it does not answer, it is asked again. */
  readonly registered: () => boolean
  readonly work: () => Workshop
  /** Also how an author pauses, resumes and maintains it. */
  readonly lifecycle: () => Lifecycle
  /** A new key, introduced by the old one (AV-12). */
  readonly rotate: () => Promise<Rotated>
  readonly metrics: Metrics
}

type Running = {
  readonly id: string
  readonly address: string
  readonly workshop: Workshop
  readonly lifecycle: Lifecycle
  readonly voices: Voices
  readonly drain: () => Promise<void>
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/
const GOODBYE_MS = 1_500

/** An agent that serves these skills. Nothing begins before `start`. */
export function createAgent(options: AgentOptions): Agent {
  checkOptions(options)
  const { clock = createClock(), chance = createChance(), metrics = createMetrics() } = options
  const log = logOf(options, clock)
  const stop = createStop({ clock })
  // Known before anything runs; two agents may have one name, and one database.
  let id = options.name
  const runner = createRunner({
    skills: options.skills,
    agent: () => id,
    clock,
    chance,
    metrics,
    ...(options.answers && { answers: options.answers }),
    log: ({ level, message, ...fields }) => log[level](fields, message),
    watch: (event) => log.debug({ event }, 'skill'),
  })
  let starting: Promise<void> | undefined
  let running: Running | undefined

  const started = (): Running => {
    if (running === undefined) throw new AgentError('not_started', 'start the agent first')
    return running
  }

  async function start(): Promise<void> {
    try {
      const known = (agent: string): void => {
        id = agent
      }
      running = await open(options, { clock, chance, metrics, log, stop, runner, known })
    } catch (error) {
      await stop.stop('could not start')
      throw error
    }
    if (options.signals ?? true) {
      const off = stopOnSignals(stop, {
        clock,
        source: process,
        exit: (code) => process.exit(code),
      })
      stop.stopping.addEventListener('abort', () => setImmediate(off), { once: true })
    }
  }

  return {
    start: () => {
      starting ??= start()
      return starting
    },
    drain: () => started().drain(),
    stop: async (reason = 'asked to') => {
      await starting?.catch(() => undefined)
      return stop.stop(reason)
    },
    id: () => started().id,
    address: () => started().address,
    registered: () => started().voices.registered(),
    work: () => started().workshop,
    lifecycle: () => started().lifecycle,
    rotate: () => started().voices.rotate(),
    metrics,
  }
}

type Hands = {
  readonly clock: Clock
  readonly chance: Chance
  readonly metrics: Metrics
  readonly log: Log
  readonly stop: Stop
  readonly runner: Runner
  /** Takes the agent's id, once it is known. */
  readonly known: (agent: string) => void
}

async function open(options: AgentOptions, hands: Hands): Promise<Running> {
  const { clock, chance, log, stop, runner } = hands
  const { slots = SLOTS, perMinute, skills, close } = options
  if (close !== undefined) stop.register({ name: 'keep', close })
  const directory = await directoryOf(options)
  const { id, key: given } = options
  const self = await openSelf({
    chance,
    ...(directory !== undefined && { directory }),
    ...(id !== undefined && { id }),
    ...(given && { key: given }),
  })
  hands.known(self.agent)
  const quicken = createQuicken()
  const key = () => quicken(self.keys.pair())
  const { token } = options
  const hub = createHubClient({
    hub: options.hub,
    key,
    clock,
    chance,
    ...(token !== undefined && { token }),
  })
  stop.register({ name: 'hub', close: (signal) => hub.close(signal) })
  const dial = createGuardedClient({ clock, allowNet: options.allowNet ?? netOf(options) })
  stop.register({ name: 'callbacks', close: (signal) => dial.close(signal) })

  let hiring: Hiring | undefined
  const hireFor = createWithin({
    clock,
    network: () => {
      const { allowNet = netOf(options) } = options
      const as = { agent: self.agent, key }
      hiring ??= connect({ hub: options.hub, as, allowNet, clock, chance })
      return hiring
    },
  })
  stop.register({ name: 'hiring', close: async () => hiring?.close() })

  const owner = options.owner as OwnerId
  const speaking: Speaking = {
    agent: self.agent,
    instance: self.instance,
    owner,
    key,
    signed: createSignedResults(),
  }
  const overHttp = createNetwork({ hub, agent: self.agent, clock })
  const { name } = options
  const onBus =
    options.bus && joinBus(options.bus, { ...hands, name, self: speaking, hub, network: overHttp })
  const network = onBus?.network ?? overHttp
  const lifecycle = createLifecycle({ clock, log, slots })
  const desk = createDesk({
    instance: self.instance,
    slots,
    ...(perMinute !== undefined && { perMinute }),
  })
  const accepting = (): boolean => accepts(lifecycle.standing().condition)
  const tell = (): void =>
    void lifecycle.order({ type: 'update_workload', workload: desk.workload(clock.now()) })
  const { policy, keep: kept = createMemoryKeep({ now: clock.now }) } = options
  const keep = kept.of?.(self.agent) ?? kept
  const shared = { self: speaking, network, desk, clock, chance, accepting }
  const workshop = createWorkshop({
    ...shared,
    runner,
    hireFor,
    skills,
    keep,
    log,
    dial,
    voices: { changed: (workload) => void lifecycle.order({ type: 'update_workload', workload }) },
    ...(policy && { policy }),
  })
  let isTelling = false
  const reserving = createReserving({
    ...shared,
    // Once for all that changes in the same moment: offers come many at a time.
    changed: () => {
      if (isTelling) return
      isTelling = true
      setImmediate(() => {
        isTelling = false
        workshop.pump()
        tell()
      })
    },
  })

  onBus?.serve({
    workshop,
    reserving,
    released: (reservation) => {
      desk.release(reservation)
      workshop.pump()
      tell()
    },
  })
  const server = createServer({
    ...shared,
    workshop,
    reserving,
    skills,
    log,
    publicUrl: () => options.publicUrl,
    metrics: hands.metrics,
    state: () => lifecycle.standing().condition.name,
  })
  const { host = '127.0.0.1', port = 0 } = options.listen ?? {}
  // An open hub asks nobody for proof, so whoever reaches the agent could have it work.
  if (!LOOPBACK.test(host) && (await network.isOpen())) {
    const told = 'listen.host: with an open hub, an address of this machine only'
    throw new AgentError('options_invalid', told)
  }
  const listening = await server.listen({ host, port })
  const address = (options.publicUrl ?? listening).replace(/\/$/, '')
  stop.register({
    name: 'work',
    close: async () => {
      reserving.close()
      await onBus?.deafen()
      await server.close()
      await workshop.close()
    },
  })

  const { hubKey, outlet = onBus?.outlet, alert, version } = options
  const feed = options.feed && feedOf(options.feed, options.preset, directory)
  const voices = createVoices({
    ...hands,
    self,
    owner,
    lifecycle,
    hub,
    offered: () => ({
      name: options.name,
      endpoint: address,
      skills: runner.offers(),
      callback: `${address}/moltbook/v1/reserve`,
      ...(version !== undefined && { version }),
      ...(perMinute !== undefined && { perMinute }),
    }),
    ...(hubKey !== undefined && { hubKey: hubKey as PublicKey }),
    ...(feed && { feed }),
    ...(outlet && { outlet }),
    ...(alert && { alert }),
  })

  if (voices.orders) onBus?.obey(voices.orders)

  let draining: Promise<void> | undefined
  /** C3: the network hears of it before anything is turned away. */
  async function tellAndDrain(): Promise<void> {
    const late = new AbortController()
    const timer = clock.after(GOODBYE_MS, () => late.abort())
    await voices.said(late.signal)
    timer.cancel()
    // Whoever was told to go on meanwhile goes on.
    if (!accepting()) await workshop.drain()
  }
  function drain(): Promise<void> {
    lifecycle.order({ type: 'drain' })
    draining ??= tellAndDrain().finally(() => {
      draining = undefined
    })
    return draining
  }
  // An operator drains and resumes too, and the desk follows.
  lifecycle.watch(({ condition }, before) => {
    if (condition.name === before.condition.name) return
    if (condition.name === 'draining') void drain()
    else if (before.condition.name === 'draining' && accepts(condition)) {
      desk.reopen()
      workshop.pump()
    }
  })

  await workshop.resume()
  const begun = await voices.start()
  if (begun.is === 'refused') {
    const { sentence, code } = begun.answer
    throw new AgentError('hub_refused', `the hub will not have this agent: ${sentence} (${code})`)
  }
  if (begun.is === 'waiting') log.warn('the hub does not answer yet; it is asked again')
  stop.register({
    name: 'voices',
    boundMs: GOODBYE_MS,
    close: (signal) => voices.stop(signal),
  })
  stop.register({ name: 'running work', boundMs: options.drainMs ?? DRAIN_MS, close: drain })
  log.info({ agent: self.agent, address, skills: skills.map((each) => each.id) }, 'at work')
  return { id: self.agent, address, workshop, lifecycle, voices, drain }
}

function logOf({ log = 'info', name }: AgentOptions, clock: Clock): Log {
  return typeof log === 'string' ? createLog({ clock, name, level: log }) : log
}

/** In development requesters are on the same machine. */
const netOf = ({ preset }: AgentOptions): readonly string[] =>
  preset === 'production' ? [] : ['localhost']

async function directoryOf({ directory, name }: AgentOptions): Promise<string | undefined> {
  if (directory === false) return undefined
  if (directory !== undefined) return directory
  const own = join('.chimera', name.toLowerCase().replace(/[^a-z0-9-]+/g, '-'))
  await mkdir(own, { recursive: true, mode: 0o700 })
  return own
}
