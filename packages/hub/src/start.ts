/**
 * Starts a hub: what it keeps, what it sees, and where it listens. What is opened here is
 * registered to be closed in the opposite order.
 */
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { readCents } from '@chimera/dialects/wire'
import type { Chance } from '@chimera/host/chance'
import type { Clock } from '@chimera/host/clock'
import { createGuardedClient } from '@chimera/host/guarded/client'
import type { Log } from '@chimera/host/log'
import { createMetrics } from '@chimera/host/metrics'
import type { Values } from '@chimera/host/settings/declare'
import type { Stop } from '@chimera/host/stop'
import { openBulk } from '@chimera/identity/bulk'
import { loadOrCreateKeyFile } from '@chimera/identity/key-file'
import { generateKeyPair, type KeyPair } from '@chimera/identity/keys'
import type { Hub } from './act/hub.ts'
import { makeFirstOperator } from './act/tokens.ts'
import { MEMORY, openKeep } from './compose.ts'
import { createCallers } from './http/caller.ts'
import { createHttp, listenAlso } from './http/server.ts'
import type { HUB_SETTINGS } from './settings.ts'
import { createDirectory } from './views/directory.ts'
import { createFeed } from './views/feed.ts'
import { followTrail } from './views/follow.ts'
import { createObserved } from './views/observed.ts'
import { createPresence } from './views/presence.ts'
import { createScores } from './views/scores.ts'
import { keepBooks, keepWatch, recallPosts } from './watch.ts'

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

export async function startHub(options: HubOptions): Promise<RunningHub> {
  const { settings, clock, chance, log, stop } = options
  const { host, port } = settings.listen
  const required = settings.auth === 'required'
  if (!required) refuseOpenAddress(host)

  const embedded = settings.database === undefined
  const keep = await openKeep(options)
  const key = required ? await loadHubKey(settings) : undefined
  const scores = createScores()
  const presence = createPresence()
  const directory = createDirectory(scores.standingOf, presence)
  const settle = followTrail(keep, scores)
  await settle()
  for await (const agents of keep.agents.loadAll()) {
    for (const agent of agents) directory.enter(agent)
  }
  await recallPosts(keep, presence, clock.now())

  const dial = createGuardedClient({ clock, allowNet: settings.allowNet })
  stop.register({ name: 'dialling', close: () => dial.close(stop.stopping) })

  const hub: Hub = {
    keep,
    directory,
    presence,
    feed: createFeed(directory.holderOf),
    observed: createObserved(),
    scores,
    dial,
    ...(key && { key }),
    verify: (await openBulk()).verifyMessage,
    now: clock.now,
    uuid: chance.uuid,
    uuidV7: () => chance.uuidV7(clock.now()),
    fraction: chance.fraction,
    grantCents: readCents(settings.grant ?? (embedded ? EMBEDDED_GRANT : 0)) ?? 0,
    settle,
  }
  keepBooks(hub, options)
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
  const lacksOperator = required && !(await tokens.hasOperator())
  const running = { address, also, hub }
  return lacksOperator ? { ...running, firstOperatorToken: await makeFirstOperator(hub) } : running
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

function addressOf({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}
