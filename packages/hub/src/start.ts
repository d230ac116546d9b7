/**
 * Starts a hub: what it keeps, what it sees, and where it listens. What is opened here is
 * registered to be closed in the opposite order.
 */
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { readCents } from '@chimera/dialects/wire'
import type { AgentId, CorrelationId } from '@chimera/domain/ids'
import type { Chance } from '@chimera/host/chance'
import type { Clock } from '@chimera/host/clock'
import { createGuardedClient } from '@chimera/host/guarded/client'
import { createJudge } from '@chimera/host/guarded/judge'
import type { Log } from '@chimera/host/log'
import { createMetrics, type Metrics } from '@chimera/host/metrics'
import { redactText } from '@chimera/host/redact'
import type { Declared, Values } from '@chimera/host/settings/declare'
import type { Stop } from '@chimera/host/stop'
import { openBulk } from '@chimera/identity/bulk'
import { loadOrCreateKeyFile } from '@chimera/identity/key-file'
import { generateKeyPair, type KeyPair } from '@chimera/identity/keys'
import type { FastifyInstance } from 'fastify'
import type { HubAbout } from './act/about.ts'
import type { Hub } from './act/hub.ts'
import { createSchemas } from './act/output.ts'
import { createProviders, type TryProviders } from './act/providers.ts'
import { makeFirstOperator } from './act/tokens.ts'
import { createTelling, setRules } from './act/trust.ts'
import { createAlerts } from './alarm.ts'
import { type Carry, type CarryOptions, carryNothing, createCarry } from './carry.ts'
import {
  type CarrierOptions,
  type KeepOptions,
  MEMORY,
  openCarrier,
  openGranting,
  openKeep,
} from './compose.ts'
import { startDeliverer } from './deliver.ts'
import { createGuard } from './guard.ts'
import { createHeard } from './heard.ts'
import { loadConsole } from './http/console.ts'
import { openTls, serveHub } from './http/serve.ts'
import { keepLookout } from './lookout.ts'
import type { Keep } from './ports/keep.ts'
import { keepProbing } from './probe.ts'
import { recallObservations } from './recall.ts'
import { HUB_SETTINGS } from './settings.ts'
import { followAgents } from './views/agent-changes.ts'
import { createAsides } from './views/asides.ts'
import { createDirectory } from './views/directory.ts'
import { createFeed } from './views/feed.ts'
import { followTrail } from './views/follow.ts'
import { createGrants } from './views/grants.ts'
import { createLive } from './views/live.ts'
import { createObserved } from './views/observed.ts'
import { createPresence } from './views/presence.ts'
import { createProbes } from './views/probes.ts'
import { createRecords, recallRecords } from './views/records.ts'
import { createScores, type ScoreMoved } from './views/scores.ts'
import { createUptime } from './views/uptime.ts'
import {
  keepBooks,
  keepKeys,
  keepLive,
  keepNonces,
  keepObservations,
  keepResults,
  keepTold,
  keepWatch,
  recallPosts,
} from './watch.ts'

export type HubOptions = {
  readonly settings: Values<typeof HUB_SETTINGS>
  readonly clock: Clock
  readonly chance: Chance
  readonly log: Log
  readonly stop: Stop
  /** Make another operator's token: the first one was lost. */
  readonly newOperator?: boolean
  /** A broker instead of the one that the settings name, such as one of this process. */
  readonly dial?: NonNullable<CarrierOptions['dial']>
  /** A way to the database that watches what is asked of it, such as a test's. */
  readonly open?: NonNullable<KeepOptions['open']>
  /** The directory of the page that is served under `/console`; none without it. */
  readonly page?: string | undefined
  /** Tries what the fleet of this process stands on; nothing is known of it without. */
  readonly providers?: TryProviders
  /** For whoever serves more than a hub does, such as a benchmark; called before it listens. */
  readonly extend?: (app: FastifyInstance) => void
}

export type RunningHub = {
  readonly address: string
  readonly also: readonly string[]
  readonly hub: Hub
  readonly metrics: Metrics
  /**
   * Made when there was none that counts, or when asked for; to be shown to whoever started the
   * hub, and forgotten.
   */
  readonly firstOperatorToken?: string
}

/** The grant of the embedded default; a server of strangers starts with none. */
const EMBEDDED_GRANT = 100

export async function startHub(options: HubOptions): Promise<RunningHub> {
  const { settings, clock, chance, log, stop } = options
  const required = settings.auth === 'required'
  if (!required) refuseOpenAddress(settings.listen.host)

  const tls = await openTls(options)
  const page = options.page === undefined ? undefined : await loadConsole(options.page)
  const granting = await openGranting(options)
  const embedded = settings.database === undefined
  const keep = await openKeep(options)
  const key = required ? await loadHubKey(settings) : undefined
  if (key !== undefined) await takeUpKey(keep, key, chance.uuid())
  const scores = createScores()
  const presence = createPresence()
  const probes = createProbes(chance.fraction)
  const records = createRecords()
  const directory = createDirectory(scores.standingOf, presence, probes, records)
  const telling = createTelling(await keep.told.through())
  const observed = createObserved()
  const { load } = keep.agents
  const changes = followAgents({
    directory,
    observed,
    records,
    load,
    loadRecord: keep.profiles.load,
  })
  const moved = (all: readonly ScoreMoved[]): void => {
    telling.note(all)
    for (const { change } of all) directory.reconsider(change.agent)
  }
  const follow = followTrail(keep, scores, moved, changes.follow)
  const readAnew = async (id: AgentId): Promise<void> => {
    // The embedded database has one hub, which has made all changes itself.
    const agent = embedded ? undefined : await load(id)
    if (agent !== undefined) directory.enter(agent)
  }
  const metrics = createMetrics({ process: true })
  const guard = createGuard({ metrics, log })
  const heard = createHeard({ guard, log })
  const live = createLive({
    log: keep.live,
    guard,
    clock,
    metrics,
    logger: log,
    settle: () => hub.settle(),
    most: settings.liveReaders,
  })
  const catchUp = async (): Promise<void> => {
    await follow()
    void live.pull()
  }
  const { agentsOf } = keep.control
  const carrying = { heard, metrics, key, agentsOf, catchUp, readAnew }
  const carry = await createCarrying(options, carrying)
  await follow()
  for await (const agents of keep.agents.loadAll()) {
    for (const agent of agents) directory.enter(agent)
  }
  if (!embedded) changes.begin()
  const feed = createFeed()
  await recallObservations({ keep, directory, presence, feed, observed })
  await recallPosts(keep, presence, clock.now())
  await recallRecords(keep, records)

  const dial = createGuardedClient({ clock, allowNet: settings.allowNet })
  stop.register({ name: 'dialling', close: () => dial.close(stop.stopping) })

  const { uuid, fraction } = chance
  const uuidV7 = () => chance.uuidV7(clock.now())
  const { alerts: kept, webhooks, deliveries } = keep
  const alerts = createAlerts({ kept, webhooks, metrics, clock, log, uuidV7 })
  const bring = { deliveries, dial, key: () => key, alerts, metrics, clock, log, stop }
  const deliverer = startDeliverer({ ...bring, uuid, fraction })
  const hub: Hub = {
    keep,
    directory,
    presence,
    feed,
    observed,
    records,
    uptime: createUptime(keep.profiles.upMs),
    scores,
    asides: createAsides(),
    live,
    schemas: createSchemas(),
    dial,
    judge: createJudge({ clock, allowNet: settings.allowNet }),
    alerts,
    deliverer,
    ...(key && { key }),
    verify: (await openBulk({ aside: availableParallelism() > 1 })).verifyMessage,
    now: clock.now,
    sleep: clock.sleep,
    uuid,
    uuidV7,
    fraction,
    recoveryDelayMs: settings.recoveryDelay,
    resultsKeptMs: settings.resultsKept,
    grantCents: readCents(settings.grant ?? (embedded ? EMBEDDED_GRANT : 0)) ?? 0,
    settlement: { feeBasisPoints: settings.settlementFee },
    publish: heard.publish,
    heard,
    grants: createGrants(),
    ...(granting && { granting }),
    share: carry.share,
    about: describeSelf(settings, clock.now()),
    providers: createProviders(options.providers, clock.now),
    settle: async () => {
      await catchUp()
      carry.sealed(scores.seq())
      // What is not told now is told with the next settlement, or at the next start.
      await telling.tell(hub).catch((error) => log.warn({ err: error }, 'nothing was told'))
    },
  }
  await setRules(hub, {
    pairSuccesses: settings.pairSuccesses,
    pairWindowMs: settings.pairWindow,
  })
  carry.begin(hub)
  keepBooks(hub, options)
  keepWatch(hub, options)
  keepObservations(hub, options)
  keepProbing(hub, { ...options, metrics })
  keepNonces(hub, options)
  keepResults(hub, options)
  keepKeys(hub, options)
  keepTold(hub, options)
  keepLookout(hub, options)
  keepLive(hub, options)

  const { address, also } = await serveHub(hub, options, { metrics, guard, tls, page })
  // Last, so that a start that fails does not leave a token behind that nobody was shown.
  const wantsOperator =
    required && (options.newOperator === true || !(await keep.tokens.hasOperator()))
  const running = { address, also, hub, metrics }
  return wantsOperator ? { ...running, firstOperatorToken: await makeFirstOperator(hub) } : running
}

type Carrying = Pick<
  CarryOptions,
  'heard' | 'metrics' | 'key' | 'agentsOf' | 'catchUp' | 'readAnew'
>

/** The broker that the settings name, or the one that was handed in. */
async function createCarrying(options: HubOptions, parts: Carrying): Promise<Carry> {
  const { settings, chance } = options
  const { uuid } = chance
  const carrier = await openCarrier(options)
  if (carrier === undefined) return carryNothing(parts)
  const held = settings.busHeld
  return createCarry({ ...options, ...parts, carrier, held, uuid, name: uuid() })
}

/** neither secrets nor places of the inside are on a page. */
function describeSelf(settings: HubOptions['settings'], startedAt: number): HubAbout {
  const declared: Declared = HUB_SETTINGS
  const values: Readonly<Record<string, unknown>> = settings
  return {
    startedAt,
    database: settings.database === undefined ? 'embedded' : 'server',
    settings: Object.entries(declared).map(([name, setting]) => {
      const value = redactText(setting.show(values[name]))
      return { name, value, about: setting.about }
    }),
  }
}

/** Kept beside the embedded database, or made for the time that a database in memory lasts. */
async function loadHubKey({ data, keyFile }: HubOptions['settings']): Promise<KeyPair> {
  if (keyFile === undefined && data === MEMORY) return generateKeyPair()
  const { pair } = await loadOrCreateKeyFile(resolve(keyFile ?? join(data, 'keys', 'hub.json')))
  return pair
}

/** What the hub signs is checked against the history of its keys, so that begins here (P-15). */
async function takeUpKey(keep: Keep, { id, publicKey }: KeyPair, cause: string): Promise<void> {
  const adopted = await keep.hubKeys.adopt({ id, publicKey }, cause as CorrelationId)
  if (!adopted.ok) throw new HubKeyReplaced()
}

export class HubKeyReplaced extends Error {
  readonly code = 'hub_key_replaced'
  constructor() {
    super(
      'This database knows the key of the hub as one that was replaced. Several hubs on one ' +
        'database share one key file; name the one that holds the present key with --key-file.',
    )
  }
}

/** An open hub believes whoever asks, so it must not be heard from other machines. */
function refuseOpenAddress(host: string): void {
  if (host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host)) return
  throw new OpenAddress(host)
}

export class OpenAddress extends Error {
  readonly code = 'open_address'
  constructor(host: string) {
    super(
      `The hub is open and would believe anybody who can reach ${host}. ` +
        'Listen on 127.0.0.1, or start it with --auth required.',
    )
  }
}
