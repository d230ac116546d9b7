/**
 * An agent of the harness: a real one, whose ways to others can be cut and which can be killed and
 * started again.
 *
 *   M1  All that others say to it goes through a proxy of its own, all that it says to the hub
 *       through the harness's, so that either can be lost, late or doubled.
 *   M2  After a crash nothing of the old run is heard of any more; a restart has the same id, key
 *       and kept work, and is a new instance.
 */
import { createServer } from 'node:http'
import { type Agent, type AgentOptions, createAgent } from '@chimera/agent/create'
import { createMemoryKeep } from '@chimera/agent/work/memory-keep'
import { openBus } from '@chimera/bus/bus'
import type { Dial } from '@chimera/bus/link'
import { createSeededChance } from '@chimera/host/chance'
import { createLog } from '@chimera/host/log'
import { generateKeyPair } from '@chimera/identity/keys'
import { createMemoryAnswers } from '@chimera/skill/answers'
import type { Skill } from '@chimera/skill/contract'
import { HarnessError } from './error.ts'
import { createFaultProxy, type Passing } from './fault-proxy.ts'
import type { Link } from './links.ts'
import { close, listen } from './listening.ts'
import { beginLife, type Life } from './mortal.ts'
import type { Pace } from './pace.ts'
import type { Plan } from './plan.ts'
import type { Traffic } from './traffic.ts'
import { createWire, type Wire } from './wire.ts'

/** As of `createAgent`, but for what the harness sees to itself. */
export type MemberOptions = Partial<
  Omit<
    AgentOptions,
    'hub' | 'token' | 'directory' | 'id' | 'key' | 'listen' | 'publicUrl' | 'clock' | 'chance'
  >
> & { readonly skills: readonly Skill[] }

export type Member = {
  readonly id: string
  readonly name: string
  readonly owner: string
  /** Where others reach it. */
  readonly address: string
  /** The agent itself, as it runs now. */
  readonly agent: () => Agent
  /** What befalls what others say to it, from now on; `'pass'` ends it. */
  readonly hears: (plan: Plan<Passing>) => void
  /** What befalls what it says to the hub, from now on; `'pass'` ends it. */
  readonly says: (plan: Plan<Passing>) => void
  /** Nothing reaches it and nothing of it reaches the hub, until `reconnect`. */
  readonly cutOff: () => void
  readonly reconnect: () => void
  /** Ends at once, as by kill -9: no goodbye, and nothing that was under way goes on. */
  readonly crash: () => void
  /** The same agent again, after a crash or a stop. */
  readonly restart: () => Promise<void>
  /** In good order. */
  readonly stop: () => Promise<void>
}

export type MemberHands = {
  readonly hub: string
  readonly pace: Pace
  readonly traffic: Traffic
  readonly seed: string
  readonly mostMs: number
  /** Another token of the owner's for each run, so that runs can be told apart. */
  readonly newLink: (owner: string) => Promise<Link>
  /** The broker, where there is one. */
  readonly broker?: Dial | undefined
}

export type OwnMember = Member & { readonly close: () => Promise<void> }

type Run = {
  readonly agent: Agent
  readonly life: Life
  readonly link: Link
  readonly wire?: Wire | undefined
}

export async function startMember(
  given: MemberOptions & { readonly name: string; readonly owner: string },
  { hub, pace, traffic, seed, mostMs, newLink, broker }: MemberHands,
): Promise<OwnMember> {
  const { name, owner, skills, ...options } = given
  const { clock } = pace
  const { uuid, bytes } = createSeededChance(seed)
  const id = uuid()
  const key = generateKeyPair(bytes)
  const kept = {
    keep: options.keep ?? { ...createMemoryKeep({ now: clock.now }), durable: true },
    answers: options.answers ?? createMemoryAnswers({ clock }),
  }
  const watched = skills.map((each) => watchSkill(each, traffic))
  const ended: Run[] = []
  let run: Run | undefined
  let port = 0
  let runs = 0
  const target = (): string => `http://127.0.0.1:${port}`
  const door = await createFaultProxy({ target, clock, keepHost: true })

  async function begin(): Promise<void> {
    runs += 1
    port = await freePort()
    const life = beginLife(clock)
    const link = await newLink(owner)
    const wire = broker && createWire(broker)
    const agent = createAgent({
      drainMs: 1_000,
      ...(wire && { bus: (needs) => openBus({ ...needs, dial: wire.dial }) }),
      log: createLog({ clock, name, level: 'silent' }),
      ...options,
      name,
      owner,
      skills: watched,
      hub,
      id,
      key,
      token: link.token,
      keep: life.lend(kept.keep),
      answers: life.lend(kept.answers),
      directory: false,
      signals: false,
      listen: { port },
      publicUrl: door.url,
      clock: life.clock,
      chance: createSeededChance(`${seed}/${runs}`),
    })
    run = { agent, life, link, wire }
    await pace.until(agent.start(), mostMs)
  }

  const running = (): Run => {
    if (run !== undefined) return run
    throw new HarnessError('not_running', `${name} does not run: restart it first`)
  }

  function crash(): void {
    const { life, link, wire } = running()
    life.end()
    link.plan('cut')
    wire?.cut()
    door.plan('cut')
    door.breakOff()
    ended.push(running())
    run = undefined
  }

  async function stop(): Promise<void> {
    if (run === undefined) return
    const { agent } = run
    run = undefined
    await pace.until(agent.stop('the end of the test'), mostMs)
  }

  await begin()
  return {
    id,
    name,
    owner,
    address: door.url,
    agent: () => running().agent,
    hears: (plan) => door.plan(plan),
    says: (plan) => running().link.plan(plan),
    cutOff: () => {
      const { link, wire } = running()
      door.plan('cut')
      link.plan('cut')
      wire?.cut()
    },
    reconnect: () => {
      const { link, wire } = running()
      door.plan('pass')
      link.plan('pass')
      wire?.mend()
    },
    crash,
    restart: async () => {
      await stop()
      door.plan('pass')
      await begin()
    },
    stop,
    close: async () => {
      await stop()
      // What a crash left open; nobody hears of it, for its link is cut.
      for (const { agent, life } of ended) {
        life.closeDown()
        await pace.until(agent.stop('the end of the test'), mostMs)
      }
      await door.close()
    },
  }
}

/** While a skill runs, time waits for it, as far as the patience goes. */
function watchSkill(skill: Skill, traffic: Traffic): Skill {
  const { work } = skill
  if (work.is !== 'function') return skill
  const run: typeof work.run = (input, context) =>
    traffic.during(async () => work.run(input, context))
  return { ...skill, work: { ...work, run } }
}

async function freePort(): Promise<number> {
  const server = createServer()
  const port = await listen(server)
  await close(server)
  return port
}
