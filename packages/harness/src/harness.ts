/**
 * `createHarness`: a whole network in one process, for the tests of whoever writes agents. The hub
 * is a real one on a database in memory, agents and hirers are real and speak HTTP; time stands
 * still until a test lets it pass, and chance has a seed.
 *
 *   N1  Nothing is written to the disk, and no port but a free one of this machine is opened.
 *   N2  The hub asks for proof, as one in production does: owners have tokens, agents sign.
 *   N3  Time passes by `pass` and `until` alone, and by what waits as they do: `hire`, `discover`,
 *       `agent`, `restart`, `stop`, `close`.
 */
import { type ConnectOptions, connect, type Network } from '@chimera/agent/hire/connect'
import { createBroker } from '@chimera/bus/memory/broker'
import type { Instant, OwnerId } from '@chimera/domain/ids'
import { createSeededChance } from '@chimera/host/chance'
import { createLog, type LogLevel } from '@chimera/host/log'
import { defaultsOf } from '@chimera/host/settings/declare'
import { createStop } from '@chimera/host/stop'
import type { VirtualClock } from '@chimera/host/virtual-clock'
import { HUB_SETTINGS } from '@chimera/hub/settings'
import { startHub } from '@chimera/hub/start'
import type { Skill } from '@chimera/skill/contract'
import type { Duration } from '@chimera/skill/duration'
import type { Database } from '@chimera/store/engine/database'
import { openDatabase } from '@chimera/store/engine/open'
import { type BooksSeen, readBooks } from './books.ts'
import { HarnessError } from './error.ts'
import { msOf, type Passing } from './fault-proxy.ts'
import { type Link, openLinks } from './links.ts'
import { type Member, type MemberOptions, type OwnMember, startMember } from './member.ts'
import { createPace } from './pace.ts'
import type { Plan } from './plan.ts'
import { createTraffic, type Traffic } from './traffic.ts'

export type HarnessOptions = {
  /** An agent with these is there from the start: `net.agents[0]`. Default: none is. */
  readonly skills?: readonly Skill[]
  /** Of everything that chance decides. Default: 1. */
  readonly seed?: number
  /** When it begins, as an instant. Default: noon of an ordinary day. */
  readonly startAt?: Instant
  /**
   * How long something that takes real time is waited for before time passes without it: a skill
   * that calls a server of its own, say. Default: 50 ms of real time.
   */
  readonly patience?: Duration
  /** Whether they also speak over a bus, in this process. Default: over HTTP alone. */
  readonly bus?: boolean
  /** Where the hub keeps what it knows. Default: in memory. */
  readonly data?: string
  /** Settings of the hub that are not the default ones. */
  readonly settings?: Partial<Omit<Parameters<typeof startHub>[0]['settings'], 'listen' | 'auth'>>
  /** What the hub writes to standard output. Default: nothing. */
  readonly log?: LogLevel
}

export type Hirer = Pick<Network, 'discover'> & {
  readonly owner: string
  readonly token: string
  /** As `connect` gives it. Time does not pass by itself for what it waits for: see `until`. */
  readonly network: Network
  /** Hires, and lets as much time pass as that takes. */
  readonly hire: Network['hire']
  /** In credits. */
  readonly balance: () => Promise<number>
  /** What befalls what it says to the hub, from now on; `'pass'` ends it. */
  readonly says: (plan: Plan<Passing>) => void
}

export type Harness = {
  /** The hub's address, for whoever wants to ask it something by hand. */
  readonly hub: string
  /** May do everything there; only ever of use to this harness. */
  readonly operatorToken: string
  readonly clock: VirtualClock
  /** Started, registered and found, in the order of their coming. */
  readonly agents: readonly Member[]
  /** Starts another one. Its name is `chimera-agent-1`, and so on, unless given. */
  readonly agent: (options: MemberOptions) => Promise<Member>
  /** An owner with an account. The same name again is the same owner. */
  readonly hirer: (owner: string, options?: HirerOptions) => Promise<Hirer>
  /** `await net.pass('60s')`: everything happens that happens by itself in that time. */
  readonly pass: (span: Duration) => Promise<void>
  /** Lets time pass until this has ended. Default: an hour at most. */
  readonly until: <Result>(ending: Promise<Result>, most?: Duration) => Promise<Result>
  /** Proven by the trail of facts; throws where that does not say the same. */
  readonly books: () => Promise<BooksSeen>
  readonly close: () => Promise<void>
}

export type HirerOptions = Omit<ConnectOptions, 'hub' | 'owner' | 'token' | 'clock' | 'chance'> & {
  /** What its account begins with. Default: 100. */
  readonly credits?: number
}

// 2026-01-01T12:00:00Z.
const NOON = 1_767_268_800_000
const PATIENCE = '50ms'
const MOST_MS = 60 * 60 * 1_000
const CREDITS = 100

/** A network of its own for one test, or for a file of them; `close` it at the end. */
export async function createHarness(options: HarnessOptions = {}): Promise<Harness> {
  const { seed = 1, startAt = NOON, patience = PATIENCE, log: level = 'silent' } = options
  const traffic = createTraffic()
  const pace = createPace({ traffic, startAt, patienceMs: msOf(patience) })
  const { clock } = pace
  const stop = createStop({ clock })
  const broker = options.bus ? createBroker({ clock }).dial : undefined
  let listening = ''
  const links = await openLinks(() => listening, clock)
  const { address, hub, firstOperatorToken } = await startHub({
    settings: {
      ...defaultsOf(HUB_SETTINGS),
      // Tests ask from one address, faster than anybody.
      requestsPerMinute: 0,
      strangersPerMinute: 0,
      maxDelay: 0,
      grant: 0,
      logLevel: level,
      allowNet: ['127.0.0.1'],
      data: options.data ?? ':memory:',
      ...options.settings,
      listen: { host: '127.0.0.1', port: 0 },
      auth: 'required',
      publicUrl: links.address,
    },
    clock,
    chance: createSeededChance(`hub/${seed}`),
    log: createLog({ clock, name: 'hub', level }),
    stop,
    ...(broker && { dial: broker }),
    open: async (database) => watchDatabase(await openDatabase(database), traffic),
  })
  listening = address
  const operatorToken = firstOperatorToken ?? ''
  const agents: OwnMember[] = []
  const networks: Network[] = []
  let closed: Promise<void> | undefined

  async function order(path: string, body: object): Promise<Readonly<Record<string, unknown>>> {
    const answer = await fetch(listening + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const said = (await answer.json()) as Record<string, unknown>
    if (answer.ok) return said
    throw new HarnessError('hub_refused', `${path}: ${String(said.message)}`)
  }

  async function newLink(owner: string): Promise<Link> {
    const { token } = await order('/v1/owners', { owner_id: owner })
    return links.open(String(token))
  }

  async function open<Result>(does: () => Promise<Result>): Promise<Result> {
    if (closed === undefined) return does()
    throw new HarnessError('closed', 'the harness is closed: make another one')
  }

  async function startAgent(wanted: MemberOptions): Promise<Member> {
    const number = agents.length + 1
    const { name = `chimera-agent-${number}`, owner = 'agents' } = wanted
    await order('/accounts', { owner_id: owner })
    const hands = { hub: links.address, pace, traffic, seed: `${name}/${seed}`, mostMs: MOST_MS }
    const member = await startMember({ ...wanted, name, owner }, { ...hands, newLink, broker })
    agents.push(member)
    return member
  }

  async function openHirer(owner: string, wanted: HirerOptions = {}): Promise<Hirer> {
    const { credits = CREDITS, ...more } = wanted
    await order('/accounts', { owner_id: owner, initial_balance: credits })
    const { token, plan } = await newLink(owner)
    const chance = createSeededChance(`${owner}/${networks.length}/${seed}`)
    const network = connect({ ...more, hub: links.address, owner, token, clock, chance })
    networks.push(network)
    return {
      owner,
      token,
      network,
      discover: (...terms) => pace.until(network.discover(...terms), MOST_MS),
      hire: (...terms) => pace.until(network.hire(...terms), MOST_MS),
      balance: async () => {
        const account = await hub.keep.money.account(owner as OwnerId)
        return (account?.balanceCents ?? 0) / 100
      },
      says: plan,
    }
  }

  async function close(): Promise<void> {
    for (const network of networks) await pace.until(network.close(), MOST_MS)
    for (const agent of agents.toReversed()) await agent.close()
    await pace.until(stop.stop('the end of the test'), MOST_MS)
    await links.close()
    traffic.close()
  }

  const harness: Harness = {
    hub: links.address,
    operatorToken,
    clock,
    agents,
    agent: (wanted) => open(() => startAgent(wanted)),
    hirer: (owner, wanted) => open(() => openHirer(owner, wanted)),
    pass: (span) => open(() => pace.pass(msOf(span))),
    until: (ending, most) => open(() => pace.until(ending, most ? msOf(most) : MOST_MS)),
    books: () => open(() => readBooks(hub, agents)),
    close: () => {
      closed ??= close()
      return closed
    },
  }
  if (options.skills) await harness.agent({ skills: options.skills })
  return harness
}

/** Time waits for whatever is asked of the database. */
function watchDatabase(database: Database, { during }: Traffic): Database {
  return {
    query: (...asked) => during(() => database.query(...asked), true),
    transaction: (...asked) => during(() => database.transaction(...asked), true),
    close: () => during(() => database.close(), true),
  }
}
