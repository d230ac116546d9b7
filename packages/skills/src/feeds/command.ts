/**
 * `chimera-feeds`: reads its arguments, opens its memory, and serves over stdio or on this machine.
 *
 *   F1  Standard output belongs to MCP. What a person should know goes to the diagnostics.
 *   F2  It ends when its client is gone, or by a signal, and keeps what it has seen.
 */
import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { TREND_PLATFORMS } from '@chimera/dialects/skills/words'
import { type Clock, createClock } from '@chimera/host/clock'
import { createGuardedClient } from '@chimera/host/guarded/client'
import { createMcpHandler } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { readKept, writeKept } from './kept.ts'
import { listenHere } from './loopback.ts'
import { createMemory } from './memory.ts'
import { createFeedReader } from './reader.ts'
import { feedsServer } from './serving.ts'
import { type FeedSettings, readFeedArgument, readFeedSettings } from './settings.ts'

export type FeedsHands = {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Takes a line for a person. */
  readonly tell: (line: string) => void
  readonly clock?: Clock
}

export type FeedsRunning = {
  /** Where it listens, when it does. */
  readonly url?: string
  readonly close: () => Promise<void>
}

export const FEEDS_USAGE = `chimera-feeds: an MCP server for RSS, Atom and JSON feeds.

  --config <file>          settings as JSON (docs/concepts/feeds.md)
  --feed <platform>=<url>  a feed; as often as needed
  --samples                samples for platforms without a feed
  --memory <file>          remembers what was seen between runs
  --allow-net <network>    dials this network too, such as localhost; as often as needed
  --http <port>            listens on this machine instead of stdio; 0 takes a free port

Platforms: ${TREND_PLATFORMS.join(', ')}.`

/** The words or the file are wrong: each problem is a line. */
export class FeedsMisused extends Error {
  override readonly name = 'FeedsMisused'
}

export async function startFeeds(
  words: readonly string[],
  { environment, tell, clock = createClock() }: FeedsHands,
): Promise<FeedsRunning> {
  const { settings, port } = await settingsOf(words)
  const { feeds = [], samples = false, memory: path, refreshMinutes = 5, allowNet = [] } = settings
  const urls = feeds.map(({ url }) => url)
  const kept = path === undefined ? undefined : await readKept(path, urls)
  const memory = createMemory(kept?.seen)
  const guard = createGuardedClient({ clock, allowNet })
  let keeping = Promise.resolve()
  const keep = (): void => {
    if (path === undefined) return
    // One after another, since they share a file.
    keeping = keeping
      .then(() => writeKept(path, { seen: memory.all(), states: reader.states() }))
      .catch(() => tell('the memory could not be written'))
  }
  const reader = createFeedReader({
    feeds,
    memory,
    guard,
    clock,
    environment,
    refreshMs: refreshMinutes * 60_000,
    onRead: keep,
    ...(kept && { states: kept.states }),
  })
  const serve = () => feedsServer({ reader, clock, samples })
  const door = port === undefined ? overStdio(serve) : await overHttp(serve, port)
  const shown = samples ? 'samples for the rest' : 'no samples'
  tell(`feeds of ${reader.platforms().join(', ') || 'no platform'}; ${shown}`)
  return {
    ...(door.url !== undefined && { url: door.url }),
    close: async () => {
      await door.close()
      await guard.close(AbortSignal.abort())
      await keeping
    },
  }
}

type Serve = () => ReturnType<typeof feedsServer>
type Door = { readonly url?: string; readonly close: () => Promise<void> }

const overStdio = (serve: Serve): Door => serveStdio(serve)

async function overHttp(serve: Serve, port: number): Promise<Door> {
  const handler = createMcpHandler(serve)
  const door = await listenHere((request) => handler.fetch(request), { port })
  return {
    url: door.url,
    close: async () => {
      await handler.close()
      await door.close()
    },
  }
}

type Wanted = { readonly settings: FeedSettings; readonly port?: number }

async function settingsOf(words: readonly string[]): Promise<Wanted> {
  const { values } = wordsOf(words)
  const file = values.config === undefined ? {} : await fromFile(values.config)
  const named = (values.feed ?? []).map((text) => ({ text, feed: readFeedArgument(text) }))
  const wrong = named.filter(({ feed }) => feed === undefined).map(({ text }) => `--feed ${text}`)
  const port = values.http === undefined ? undefined : Number(values.http)
  if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port <= 65_535)) {
    wrong.push(`--http ${values.http}`)
  }
  if (wrong.length > 0)
    throw new FeedsMisused(wrong.map((each) => `not understood: ${each}`).join('\n'))
  const feeds = [...(file.feeds ?? []), ...named.flatMap(({ feed }) => (feed ? [feed] : []))]
  const samples = values.samples ?? file.samples ?? false
  if (feeds.length === 0 && !samples) {
    throw new FeedsMisused('there is neither a feed nor --samples: nothing to serve')
  }
  const memory = values.memory ?? file.memory
  return {
    settings: {
      ...file,
      feeds,
      samples,
      allowNet: [...(file.allowNet ?? []), ...(values['allow-net'] ?? [])],
      ...(memory !== undefined && { memory }),
    },
    ...(port !== undefined && { port }),
  }
}

function wordsOf(words: readonly string[]) {
  try {
    return parseArgs({
      args: [...words],
      options: {
        config: { type: 'string' },
        feed: { type: 'string', multiple: true },
        samples: { type: 'boolean' },
        memory: { type: 'string' },
        'allow-net': { type: 'string', multiple: true },
        http: { type: 'string' },
      },
    })
  } catch (error) {
    throw new FeedsMisused(error instanceof Error ? error.message : String(error))
  }
}

async function fromFile(path: string): Promise<FeedSettings> {
  const text = await readFile(path, 'utf8').catch(() => {
    throw new FeedsMisused(`the file ${path} cannot be read`)
  })
  const read = readFeedSettings(text)
  if (read.ok) return read.settings
  throw new FeedsMisused(read.problems.map((each) => `${path}: ${each}`).join('\n'))
}
