/**
 * The hirer's side of a network: who is there, and having work done.
 *
 * Options > defaults, read once. A hirer is an owner with a token, or an agent with its key; the
 * second signs what it asks for, and its own score speaks for it.
 */
import type { WorkSeen } from '@chimera/dialects/chimera'
import type { AgentFound } from '@chimera/dialects/chorus'
import { isUuid, readCents, writeCents } from '@chimera/dialects/wire'
import { presentKey } from '@chimera/domain/agent/keys'
import type {
  AgentId,
  CorrelationId,
  HoldId,
  IdempotencyKey,
  OwnerId,
  TaskId,
} from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import { DEFAULT_PRIORITY } from '@chimera/domain/work/queue'
import { type Chance, createChance } from '@chimera/host/chance'
import { type Clock, createClock } from '@chimera/host/clock'
import type { KeyPair } from '@chimera/identity/keys'
import { doorOnBus, type HirersBus } from '../bus/hiring.ts'
import { createHubClient } from '../hub/client.ts'
import { createBooks } from './books.ts'
import { createDirectory, type Directory, type DirectoryOptions } from './directory.ts'
import { createBelief, createDoor } from './door.ts'
import type { Errand, Hands } from './errand.ts'
import { HireFailure } from './failure.ts'
import { callOff } from './follow.ts'
import { askOne, askReserved, finish, type Hired, hire, type Job, settle } from './hire.ts'
import { createKeys } from './keys.ts'
import { createPasses } from './passes.ts'
import { type Reserved, release, reserve } from './reserve.ts'
import { createTeller } from './steps.ts'
import { type HireTerms, readTerms } from './terms.ts'

export type ConnectOptions = {
  /** Its address, such as `http://127.0.0.1:4600`. */
  readonly hub: string
  /** Who pays. An open hub knows it from here alone; elsewhere it must be the token's owner. */
  readonly owner?: string
  /** The owner's token. It goes to the hub and to nobody else. */
  readonly token?: string | (() => string | undefined) | undefined
  /** Hires as this agent: what it asks for is signed with its key. */
  readonly as?: { readonly agent: string; readonly key: KeyPair | (() => KeyPair) }
  /**
   * What may be dialled beside public addresses: `10.0.0.0/8`, `localhost`, `*`. Default: this
   * machine if the hub is on it, else nothing. Agents name their addresses themselves, so a wider
   * list lets any agent make this process call into that network.
   */
  readonly allowNet?: readonly string[]
  /** A bus that agents are on too: who hires as an agent asks there first. It stays open. */
  readonly bus?: HirersBus
  readonly clock?: Clock
  readonly chance?: Chance
}

export type DiscoverTerms = {
  /** In credits. */
  readonly maxCost?: number
  /** 0–100. */
  readonly minReputation?: number
  /** Default: 20. */
  readonly limit?: number
  /** `fair` puts a newcomer first now and then (P-14). Default: strictly by reputation. */
  readonly order?: 'reputation' | 'fair'
}

export type ReserveTerms = HireTerms & {
  /** Default: 1. */
  readonly slots?: number
  /** Only at this agent; the skill may be '' then. Default: at any that offers the skill. */
  readonly agent?: string
}

export type Reservation = Omit<Reserved, 'place' | 'hold'> & {
  readonly hold?: HoldId
  readonly ask: (input: Input) => Promise<Job>
  readonly release: () => Promise<void>
}

export type Network = {
  readonly discover: (skill: string, terms?: DiscoverTerms) => Promise<readonly AgentFound[]>
  /**
   * Takes a slot and a hold of the whole budget at one instance, the next where one declines
   * (AV-9); both lapse within half a minute, unless the work is asked for. For agents only.
   */
  readonly reserve: (skill: string, terms?: ReserveTerms) => Promise<Reservation>
  /** Asks this agent and no other. */
  readonly ask: (agent: AgentFound, input: Input, terms?: HireTerms) => Promise<Job>
  /** The name under which a hire with this key goes, for the three that follow. */
  readonly taskOf: (key: string) => string
  /** What the hub knows of work, by its task (P-3); undefined: it never heard of it. */
  readonly result: (task: string) => Promise<WorkSeen | undefined>
  /** Calls work off, unless it is done already. */
  readonly cancel: (task: string) => Promise<void>
  /** Pays for work that is done and not yet claimed. In credits: what it cost in all. */
  readonly settle: (task: string) => Promise<number>
  /**
   * A directory of one's own, for planners that want no hub in the path: hand it what is heard on
   * the bus. It verifies each message itself, by the keys that the hub has told (AV-6, AV-7).
   */
  readonly directory: (options?: Partial<DirectoryOptions>) => Directory
  /** All of it: finds somebody, asks, waits, pays. Throws a `HireFailure`. */
  readonly hire: (skill: string, input: Input, terms?: HireTerms) => Promise<Hired>
  readonly close: () => Promise<void>
}
type Input = Readonly<Record<string, unknown>>

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/
/** For calling off by key: a word with the agent and a few with the hub. */
const CANCEL_MS = 15_000

/** The network as a hirer sees it. Nothing is asked before it is needed; `close` it at the end. */
export function connect(options: ConnectOptions): Network {
  const { clock = createClock(), chance = createChance(), as, token } = options
  const owner = options.owner as OwnerId | undefined
  const key = as && (() => (typeof as.key === 'function' ? as.key() : as.key))
  const hub = createHubClient({
    hub: options.hub,
    clock,
    chance,
    ...(token !== undefined && { token }),
    ...(key && { key }),
  })
  const here = LOOPBACK.test(new URL(hub.address).hostname)
  const { allowNet = here ? ['localhost'] : [] } = options
  const passes = key && createPasses({ hub, key, clock })
  const overHttp = createDoor({
    clock,
    chance,
    allowNet,
    ...(key && { key }),
    ...(passes && { passes }),
  })
  const books = createBooks(hub, clock.now)
  const keysOf = createKeys(books, clock)
  const believe = createBelief()
  const planner = as && key && { agent: as.agent as AgentId, key }
  const isSigned = async (agent: AgentId, message: object): Promise<boolean> => {
    for (const fresh of [false, true]) {
      const history = await keysOf(agent, fresh)
      if (history !== undefined && believe(message, { history, at: clock.now() })) return true
    }
    return false
  }
  const door =
    options.bus && planner
      ? doorOnBus(overHttp, { bus: options.bus, ...planner, isSigned, clock })
      : overHttp
  const hands: Hands = {
    books,
    door,
    keysOf,
    believe,
    clock,
    chance,
    ...(owner !== undefined && { payer: owner }),
    ...(planner && { planner }),
  }
  // Nobody is asked to believe this name: where nobody signs, the hold says whose work it is.
  const requester = as?.agent ?? chance.uuid()

  function errandOf(skill: string, input: Input, wanted: HireTerms): Errand {
    const now = clock.now()
    const terms = readTerms(wanted, { owner: owner ?? as?.agent, chance, now })
    const tell = createTeller(wanted.onProgress, { task: terms.task, now: clock.now })
    return {
      terms,
      ...(tell && { tell }),
      asked: {
        type: 'ask_work',
        task: terms.task,
        claimedRequester: requester,
        skill,
        input,
        key: terms.task as string as IdempotencyKey,
        correlation: terms.correlation,
        priority: terms.priority ?? DEFAULT_PRIORITY,
        sentAt: now,
        deadline: terms.deadline,
      },
    }
  }

  /** Work that is known by its key alone. */
  async function known(task: string) {
    if (!isUuid(task)) throw new HireFailure('terms_invalid', { detail: 'task: a uuid' })
    const name = task.toLowerCase() as TaskId
    const errand = errandOf('', {}, { deadline: CANCEL_MS })
    const asked = { ...errand.asked, task: name, correlation: name as string as CorrelationId }
    return { errand: { ...errand, asked }, work: await books.work(name) }
  }

  return {
    async discover(skill, terms = {}) {
      const { maxCost, minReputation, limit = 20, order = 'reputation' } = terms
      const maxCostCents = maxCost === undefined ? undefined : readCents(maxCost)
      if (maxCost !== undefined && maxCostCents === undefined) {
        throw new HireFailure('terms_invalid', { detail: 'maxCost: credits to the hundredth' })
      }
      return books.discover({
        skill,
        limit: Math.min(limit, LIMITS.hitsPerPage),
        order,
        ...(maxCostCents !== undefined && { maxCostCents }),
        ...(minReputation !== undefined && {
          minScoreMicro: Math.round(minReputation * 1_000_000),
        }),
      })
    },
    async reserve(skill, terms = {}) {
      if (planner === undefined) {
        const detail = 'as: only an agent reserves; connect with its id and key'
        throw new HireFailure('terms_invalid', { detail })
      }
      const errand = errandOf(skill, {}, terms)
      const { slots = 1, agent } = terms
      const at = agent === undefined ? {} : { agent: agent as AgentId }
      const reserved = await reserve(hands, planner, errand, { slots, ...at })
      const { place: _, hold, ...told } = reserved
      return {
        ...told,
        ...(hold && { hold: hold.id }),
        ask: (input) =>
          askReserved(hands, reserved, { ...errand, asked: { ...errand.asked, input } }),
        release: () => release(hands, errand, reserved),
      }
    },
    ask: async (agent, input, terms = {}) => {
      const errand = errandOf(agent.skill.name, input, terms)
      const { id, name, endpoint, skill } = agent
      if (skill.priceCents > errand.terms.budgetCents) {
        const detail = `budget: at least ${writeCents(skill.priceCents)}, which this agent costs`
        throw new HireFailure('terms_invalid', { detail })
      }
      return askOne(hands, { id, name, endpoint, priceCents: skill.priceCents }, errand)
    },
    taskOf: (key) => errandOf('', {}, { key }).terms.task,
    result: async (task) => (await known(task)).work,
    async cancel(task) {
      const { errand, work } = await known(task)
      if (work?.agent === undefined)
        throw new HireFailure('hub_refused', { refusal: 'work_unknown' })
      const { name, endpoint = '' } = await books.agent(work.agent)
      const place = { id: work.agent, name, endpoint, priceCents: 0 }
      const hold = work.hold && { id: work.hold }
      const aborted = { ...errand, terms: { ...errand.terms, signal: AbortSignal.abort() } }
      const ended = await callOff(hands, place, aborted, hold).catch((error: unknown) => {
        if (error instanceof HireFailure && error.code === 'given_up') return undefined
        throw error
      })
      if (ended !== undefined) await finish(hands, errand, { ended, place, hold, declined: [] })
    },
    async settle(task) {
      const { errand, work } = await known(task)
      if (work === undefined) throw new HireFailure('hub_refused', { refusal: 'work_unknown' })
      const { agent, hold } = work
      if (work.end !== 'done') {
        throw new HireFailure('outcome_unknown', { task: work.task, ...(agent && { agent }) })
      }
      return hold === undefined ? 0 : settle(hands, errand, { id: hold })
    },
    directory: (more = {}) =>
      createDirectory({
        clock,
        chance,
        keyOf: async (agent, fresh) => {
          const history = await keysOf(agent, fresh)
          return history && presentKey(history)?.publicKey
        },
        probe: (place) => door.isThere({ endpoint: place }, { timeoutMs: LIMITS.probeAnswerMs }),
        ...more,
      }),
    hire: async (skill, input, terms = {}) =>
      hire(hands, { ...errandOf(skill, input, terms), waits: true }),
    async close() {
      await Promise.all([hub.close(AbortSignal.abort()), door.close()])
    },
  }
}
