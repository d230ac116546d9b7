/**
 * Puts a hub together: the one file that knows which database, clock and log it runs on. What is
 * opened here is registered to be closed in the opposite order.
 */
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { readCents } from '@chimera/dialects/wire'
import { type KeyHistory, presentKey } from '@chimera/domain/agent/keys'
import type { AgentId, Instant, KeyId, OwnerId } from '@chimera/domain/ids'
import type { Account, Side } from '@chimera/domain/money/ledger'
import type { Chance } from '@chimera/host/chance'
import type { Clock } from '@chimera/host/clock'
import type { Log } from '@chimera/host/log'
import { createMetrics } from '@chimera/host/metrics'
import type { Values } from '@chimera/host/settings/declare'
import type { Stop } from '@chimera/host/stop'
import { openBulk } from '@chimera/identity/bulk'
import { canonicalDigest } from '@chimera/identity/canonical'
import { loadOrCreateKeyFile } from '@chimera/identity/key-file'
import { generateKeyPair, type KeyPair } from '@chimera/identity/keys'
import { openDatabase } from '@chimera/store/engine/open'
import { appendFacts } from '@chimera/store/facts/append'
import { createSealer } from '@chimera/store/facts/sealer'
import { sealedAfter } from '@chimera/store/facts/trail'
import { createLedger } from '@chimera/store/ledger/ledger'
import {
  readAccount,
  readBalances,
  readEconomy,
  readMovement,
  readPayments,
} from '@chimera/store/ledger/reading'
import { migrate } from '@chimera/store/migrate'
import { createPresenceLog } from '@chimera/store/presence'
import { createRegistry } from '@chimera/store/registry/agents'
import { createTokens } from '@chimera/store/registry/tokens'
import type { Hub } from './act/hub.ts'
import { makeFirstOperator } from './act/tokens.ts'
import { createCallers } from './http/caller.ts'
import { createHttp, listenAlso } from './http/server.ts'
import type { Keep, KeyHolder } from './ports.ts'
import type { HUB_SETTINGS } from './settings.ts'
import { createDirectory } from './views/directory.ts'
import { createFeed } from './views/feed.ts'
import { createObserved } from './views/observed.ts'
import { createPresence } from './views/presence.ts'
import { createScores, type Scores } from './views/scores.ts'
import { keepWatch, recallPosts } from './watch.ts'

export type HubOptions = {
  readonly settings: Values<typeof HUB_SETTINGS>
  readonly clock: Clock
  readonly chance: Chance
  readonly log: Log
  readonly stop: Stop
}

export type RunningHub = {
  readonly address: string
  readonly also: readonly string[]
  readonly hub: Hub
  /**
   * Made when there was none that counts; to be shown to whoever started the hub, and forgotten.
   */
  readonly firstOperatorToken?: string
}

/** The grant of the embedded default; a server of strangers starts with none. */
const EMBEDDED_GRANT = 100
// A new fact is in the chain within a second, also when nobody asks for it.
const SEAL_MS = 1_000
// AV-10: what can be asked for; the day that it began in is kept whole.
const PRESENCE_KEPT_MS = 24 * 60 * 60 * 1_000

export async function startHub(options: HubOptions): Promise<RunningHub> {
  const { settings, clock, chance, log, stop } = options
  const { host, port } = settings.listen
  const required = settings.auth === 'required'
  if (!required) refuseOpenAddress(host)

  const embedded = settings.database === undefined
  const database = await openDatabase(settings.database ?? embeddedAddress(settings.data))
  stop.register({ name: 'database', close: () => database.close() })
  await migrate(database, { now: clock.now() })

  const key = required ? await loadHubKey(settings) : undefined
  const keep = keepOf(database, options)
  const scores = createScores()
  const presence = createPresence()
  const directory = createDirectory(scores.standingOf, presence)
  const settle = followTrail(keep, scores)
  await settle()
  for await (const agents of keep.agents.loadAll()) {
    for (const agent of agents) directory.enter(agent)
  }
  await recallPosts(keep, presence, clock.now())

  const hub: Hub = {
    keep,
    directory,
    presence,
    feed: createFeed(directory.holderOf),
    observed: createObserved(),
    scores,
    ...(key && { key }),
    verify: (await openBulk()).verifyMessage,
    now: clock.now,
    uuid: chance.uuid,
    uuidV7: () => chance.uuidV7(clock.now()),
    fraction: chance.fraction,
    grantCents: readCents(settings.grant ?? (embedded ? EMBEDDED_GRANT : 0)) ?? 0,
    settle,
  }
  keepTime(hub, options)
  keepWatch(hub, options)

  const { tokens, agents } = keep
  const callers = createCallers({
    tokens,
    holderOf: agents.withKey,
    now: clock.now,
    ...(key && { key }),
  })
  const metrics = createMetrics({ process: true })
  const app = createHttp({ hub, log, metrics, callers, publicUrl: settings.publicUrl })
  // Where it listens is said by whoever started it; Fastify's own line would be one too many.
  await app.listen({ host, port, listenTextResolver: () => 'listening' })
  stop.register({ name: 'http', close: () => app.close() })
  const also: string[] = []
  for (const extra of settings.extraPorts) {
    const server = await listenAlso(app, { host, port: extra })
    stop.register({
      name: `port ${extra}`,
      close: () => new Promise<void>((closed) => void server.close(() => closed())),
    })
    also.push(addressOf(server.address() as AddressInfo))
  }
  const address = addressOf(app.server.address() as AddressInfo)
  // Last, so that a start that fails does not leave a token behind that nobody was shown.
  const lacksOperator = required && !(await tokens.hasOperator(clock.now()))
  const running = { address, also, hub }
  return lacksOperator ? { ...running, firstOperatorToken: await makeFirstOperator(hub) } : running
}

/** A directory, or the word for a database that ends with its process. */
const MEMORY = ':memory:'

function embeddedAddress(data: string): string {
  return data === MEMORY ? 'pglite:memory' : `pglite:${resolve(data)}`
}

/** Kept beside the embedded database, or made for the time that a database in memory lasts. */
async function loadHubKey({ data, keyFile }: HubOptions['settings']): Promise<KeyPair> {
  if (keyFile === undefined && data === MEMORY) return generateKeyPair()
  const { pair } = await loadOrCreateKeyFile(resolve(keyFile ?? join(data, 'keys', 'hub.json')))
  return pair
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

type Store = Awaited<ReturnType<typeof openDatabase>>

function keepOf(database: Store, { clock, chance }: HubOptions): Keep {
  const ledger = createLedger({ database, clock, chance })
  const sealer = createSealer({ database, digestOf: canonicalDigest })
  const presence = createPresenceLog({ database, clock })
  return {
    agents: {
      ...createRegistry({ database, clock, chance, digestOf: canonicalDigest }),
      withKey: (key) => readHolder(database, key),
    },
    tokens: {
      ...createTokens({ database, clock }),
      hasOperator: (now) => hasOperator(database, now),
    },
    money: {
      submit: async (command, correlation, spend) =>
        (await ledger.submit({ command, correlation, ...(spend && { spend }) })).decision,
      account: (owner) => readAccount(database, owner),
      movement: (transfer) => readMovement(database, transfer),
      payments: (filter) => readPayments(database, filter),
      economy: () => readEconomy(database),
      accounts: async () => accountsIn(await readBalances(database)),
      endDue: () => ledger.endDue(),
    },
    trail: {
      append: (fact, correlation, now) =>
        database.transaction((tx) => appendFacts(tx, [{ fact, recordedAt: now, correlation }])),
      seal: sealer.seal,
      sealedAfter: (seq) => sealedAfter(database, seq),
    },
    presence: {
      append: presence.append,
      find: presence.find,
      turnDays: async () => {
        await presence.prepare()
        await presence.dropBefore(clock.now() - PRESENCE_KEPT_MS)
      },
    },
    check: async () => {
      await database.query('SELECT 1', [])
    },
  }
}

/** From the database each time: another hub may have rotated the key a moment ago. */
async function readHolder(database: Store, key: KeyId): Promise<KeyHolder | undefined> {
  const [row] = await database.query<{
    id: AgentId
    owner: OwnerId
    removed_at: Instant | null
    keys: KeyHistory
  }>(
    `SELECT agents.id, owner, removed_at, agents.agent -> 'keys' AS keys
     FROM agent_keys JOIN agents ON agents.id = agent_keys.agent WHERE key = $1`,
    [key],
  )
  const period = row?.keys.periods.find((each) => each.id === key)
  if (row === undefined || period === undefined) return undefined
  return {
    agent: row.id,
    owner: row.owner,
    publicKey: period.publicKey,
    replaced: presentKey(row.keys)?.id !== key,
    removed: row.removed_at !== null,
  }
}

async function hasOperator(database: Store, now: Instant): Promise<boolean> {
  const rows = await database.query(
    `SELECT FROM tokens WHERE kind = 'operator' AND revoked_at IS NULL
     AND coalesce(expires_at > $1, true) LIMIT 1`,
    [now],
  )
  return rows.length > 0
}

const OWNER = 'owner:'

function accountsIn(balances: ReadonlyMap<Side, number>): readonly Account[] {
  return [...balances].flatMap(([side, balanceCents]) =>
    side.startsWith(OWNER) ? [{ owner: side.slice(OWNER.length) as OwnerId, balanceCents }] : [],
  )
}

/** Seals what is there and lets the scores follow; calls that come together share one run. */
function followTrail(keep: Keep, scores: Scores): () => Promise<void> {
  let running: Promise<void> | undefined
  let again: Promise<void> | undefined

  async function run(): Promise<void> {
    await keep.trail.seal()
    for (;;) {
      const sealed = await keep.trail.sealedAfter(scores.seq())
      if (sealed.length === 0) return
      scores.follow(sealed)
    }
  }
  const begin = (): Promise<void> => {
    const mine = run().finally(() => {
      if (running === mine) running = undefined
    })
    running = mine
    return mine
  }
  // A run that has begun may have missed what its caller just wrote, so that one waits for the
  // next.
  return () => {
    if (running === undefined) return begin()
    again ??= running
      .catch(() => undefined)
      .then(() => {
        again = undefined
        return begin()
      })
    return again
  }
}

/** What time alone does: facts are sealed and holds end, every second until the hub stops. */
function keepTime(hub: Hub, { clock, log, stop }: HubOptions): void {
  async function tick(): Promise<void> {
    while (!stop.stopping.aborted) {
      try {
        await clock.sleep(SEAL_MS, stop.stopping)
        await hub.keep.money.endDue()
        await hub.settle()
      } catch (error) {
        if (!stop.stopping.aborted) log.warn({ err: error }, 'the books could not be kept up')
      }
    }
  }
  const ticking = tick()
  stop.register({ name: 'time', close: () => ticking })
}

function addressOf({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}
