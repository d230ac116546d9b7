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
import { LIMITS } from '@chimera/domain/limits'
import type { WorkAsked } from '@chimera/domain/work/work'
import { type Chance, createChance } from '@chimera/host/chance'
import { type Clock, createClock } from '@chimera/host/clock'
import { createGuardedClient } from '@chimera/host/guarded/client'
import { createLog, type Log, type LogLevel } from '@chimera/host/log'
import { createMetrics, type Metrics } from '@chimera/host/metrics'
import { stopOnSignals } from '@chimera/host/signals'
import { createStop, type Stop, type StopReport } from '@chimera/host/stop'
import type { Answers } from '@chimera/skill/answers'
import type { Skill } from '@chimera/skill/contract'
import { createRunner, type Runner } from '@chimera/skill/runner'
import { createHubClient } from './hub/client.ts'
import type { Self as Speaking } from './ports.ts'
import type { Rotated } from './self/rotation.ts'
import { openSelf } from './self/self.ts'
import { createServer } from './serve/server.ts'
import { createLifecycle, type Lifecycle } from './voice/lifecycle.ts'
import { createVoices, type Voices, type VoicesHands } from './voice/voices.ts'
import { createDesk } from './work/desk.ts'
import type { Keep, Requester } from './work/keep.ts'
import { createMemoryKeep } from './work/memory-keep.ts'
import { createNetwork } from './work/network.ts'
import { createReserving } from './work/reserving.ts'
import { createWorkshop, type Workshop } from './work/workshop.ts'

export type AgentOptions = {
  /** What it is called: `chimera-` and small letters, digits and hyphens, as OpenClaw has it. */
  readonly name: string
  /** Whose it is: who is paid for its work. */
  readonly owner: string
  /** The hub's address, such as `http://127.0.0.1:4600`. */
  readonly hub: string
  /** What it can do: one to a hundred. */
  readonly skills: readonly Skill[]
  /** The owner's token, with which the key is bound at a hub that is not open. */
  readonly token?: string | (() => string | undefined)
  /** The hub's public key: whose orders are obeyed. Without it nobody's are. */
  readonly hubKey?: string
  /**
   * `development`: callbacks on this machine are dialled, work is kept in memory. `production`:
   * only public addresses are dialled, and a `keep` that lasts has to be given. Default:
   * `development`.
   */
  readonly preset?: 'development' | 'production'
  /** Where the server listens. Default: a free port of this machine only. */
  readonly listen?: { readonly host?: string; readonly port?: number }
  /** Where others reach the server, if that is not where it listens: behind a proxy. */
  readonly publicUrl?: string
  /** Where key and id are kept. Default: `.chimera/<name>`; `false`: nowhere, for tests. */
  readonly directory?: string | false
  /** The agent's id, a uuid, where it has one already. Default: made on the first start. */
  readonly id?: string
  /** The version of the agent's own software, in three numbers. */
  readonly version?: string
  /** How much runs at once, at most 1000; more ends sooner, up to a full machine. Default: 16. */
  readonly slots?: number
  /** Asks a minute in all (OC-20). Default: as many as come. */
  readonly perMinute?: number
  /** Where work, answers and results are kept. Default: in memory, gone with the process. */
  readonly keep?: Keep
  /** Where skills that must not run twice remember that they did. Default: in memory. */
  readonly answers?: Answers
  /** The author's own rule about an ask: a code for why not, or undefined. */
  readonly policy?: (asked: WorkAsked, requester: Requester) => string | undefined
  /** What callbacks may be dialled beside public addresses: `10.0.0.0/8`, `localhost`, `*`. */
  readonly allowNet?: readonly string[]
  /** The status feed, where one is to be told (SF-1 … SF-12). */
  readonly feed?: VoicesHands['feed']
  /** Another way for presence, identity and status, such as a bus. Default: HTTP to the hub. */
  readonly outlet?: VoicesHands['outlet']
  /** Hears what somebody should look at. */
  readonly alert?: VoicesHands['alert']
  /** Whether SIGTERM and SIGINT stop the agent and end the process. Default: true. */
  readonly signals?: boolean
  /** How long a stop waits for running work, in milliseconds, below 8000. Default: 5000. */
  readonly drainMs?: number
  /** A log of one's own, or how much is written to standard output. Default: `info`. */
  readonly log?: Log | LogLevel
  readonly metrics?: Metrics
  readonly clock?: Clock
  readonly chance?: Chance
}

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
  readonly work: () => Workshop
  /** Also how an author pauses, resumes and maintains it. */
  readonly lifecycle: () => Lifecycle
  /** A new key, introduced by the old one (AV-12). */
  readonly rotate: () => Promise<Rotated>
  readonly metrics: Metrics
}

/** The agent cannot be, or not here: the sentence says what to do. */
export class AgentError extends Error {
  override readonly name = 'AgentError'
  readonly code: 'options_invalid' | 'not_started' | 'hub_refused'

  constructor(code: AgentError['code'], message: string) {
    super(message)
    this.code = code
  }
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
const SLOTS = 16
const DRAIN_MS = 5_000
// Of the nine seconds of a stop: what is left of them is for goodbye and for letting go.
const MOST_DRAIN_MS = 7_000
const GOODBYE_MS = 1_500

export function createAgent(options: AgentOptions): Agent {
  checkOptions(options)
  const { clock = createClock(), chance = createChance(), metrics = createMetrics() } = options
  const log = logOf(options, clock)
  const stop = createStop({ clock })
  const runner = createRunner({
    skills: options.skills,
    agent: options.name,
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
      running = await open(options, { clock, chance, metrics, log, stop, runner })
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
}

async function open(options: AgentOptions, hands: Hands): Promise<Running> {
  const { clock, chance, log, stop, runner } = hands
  const { slots = SLOTS, perMinute, skills } = options
  const directory = await directoryOf(options)
  const { id } = options
  const self = await openSelf({
    chance,
    ...(directory !== undefined && { directory }),
    ...(id !== undefined && { id }),
  })
  const key = () => self.keys.pair()
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

  const owner = options.owner as OwnerId
  const speaking: Speaking = { agent: self.agent, instance: self.instance, owner, key }
  const network = createNetwork({ hub, agent: self.agent, clock })
  const lifecycle = createLifecycle({ clock, log, slots })
  const desk = createDesk({
    instance: self.instance,
    slots,
    ...(perMinute !== undefined && { perMinute }),
  })
  const accepting = (): boolean => accepts(lifecycle.standing().condition)
  const tell = (): void =>
    void lifecycle.order({ type: 'update_workload', workload: desk.workload(clock.now()) })
  const { keep = createMemoryKeep({ now: clock.now }), policy } = options
  const shared = { self: speaking, network, desk, clock, chance, accepting }
  const workshop = createWorkshop({
    ...shared,
    runner,
    skills,
    keep,
    log,
    dial,
    voices: { changed: (workload) => void lifecycle.order({ type: 'update_workload', workload }) },
    ...(policy && { policy }),
  })
  const reserving = createReserving({
    ...shared,
    changed: () => {
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
      await server.close()
      await workshop.close()
    },
  })

  const { hubKey, feed, outlet, alert, version } = options
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

  /** C3: the network hears of it before anything is turned away. */
  async function drain(): Promise<void> {
    lifecycle.order({ type: 'drain' })
    const late = new AbortController()
    const timer = clock.after(GOODBYE_MS, () => late.abort())
    await voices.said(late.signal)
    timer.cancel()
    await workshop.drain()
  }
  // An operator drains and resumes too, and the desk follows.
  lifecycle.watch(({ condition }, before) => {
    if (condition.name === before.condition.name) return
    if (condition.name === 'draining') void workshop.drain()
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

/** C1. All that is wrong at once; what skills and addresses must be is said by their own parts. */
function checkOptions(options: AgentOptions): void {
  const { name, owner, slots = SLOTS, drainMs = DRAIN_MS, perMinute = 1, keep } = options
  const wrong: string[] = []
  if (name.length === 0 || name.length > LIMITS.nameChars) {
    wrong.push(`name: 1 to ${LIMITS.nameChars} characters`)
  }
  if (owner.length === 0 || owner.length > LIMITS.ownerChars) {
    wrong.push(`owner: 1 to ${LIMITS.ownerChars} characters`)
  }
  if (!URL.canParse(options.hub)) wrong.push('hub: an address such as http://127.0.0.1:4600')
  if (!Number.isSafeInteger(slots) || slots < 1 || slots > LIMITS.slotsPerInstance) {
    wrong.push(`slots: a whole number from 1 to ${LIMITS.slotsPerInstance}`)
  }
  if (!Number.isSafeInteger(perMinute) || perMinute < 1) wrong.push('perMinute: at least 1')
  if (!(drainMs >= 0 && drainMs <= MOST_DRAIN_MS)) wrong.push(`drainMs: 0 to ${MOST_DRAIN_MS}`)
  if (options.preset === 'production' && !keep?.durable) {
    wrong.push('keep: in production, one that lasts')
  }
  if (wrong.length > 0) throw new AgentError('options_invalid', wrong.join('; '))
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
