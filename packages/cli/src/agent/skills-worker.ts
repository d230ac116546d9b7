/**
 * The process that runs a skill file: a child of `chimera agent`, which says when to load, start
 * and stop. The file's mistakes and crashes are this process's and nobody else's.
 *
 *   R1  Loading begins nothing: a file that cannot be run is known before the one before it stops.
 *   R2  Ctrl-C reaches this process too, and is left to the parent; a parent that is gone is as
 *       good as its word to stop.
 *   R3  What the file prints goes where words go, since standard output is the parent's.
 */
import { createRequire, register } from 'node:module'
import { basename, extname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { MessageChannel } from 'node:worker_threads'
import { type Agent, AgentError, createAgent, createMemoryKeep } from '@chimera/agent'
import { createClock } from '@chimera/host/clock'
import { createLog } from '@chimera/host/log'
import { type Exported, readExports } from './exports.ts'
import { openKeep } from './keeping.ts'
import { clockTime, logWriter } from './log-lines.ts'
import type { FromRunner, Started, ToRunner, Wanted } from './messages.ts'
import { placeIn } from './place.ts'
import { telltale } from './telltale.ts'
import { telling } from './work-events.ts'

type Loaded = {
  readonly file: string
  readonly exported: Extract<Exported, { ok: true }>
  readonly wanted: Wanted
}

const HUB = 'http://127.0.0.1:4600'
const clock = createClock()
const files = new Set<string>()
let loaded: Loaded | undefined
let agent: Agent | undefined
let closeKeep: (() => Promise<void>) | undefined
let ending: Promise<void> | undefined

function tell(message: FromRunner): void {
  if (process.connected) process.send?.(message)
}

/** The parent reads it before this process goes. */
function lastWord(message: FromRunner, status: number): void {
  if (!process.connected) process.exit(status)
  process.send?.(message, () => process.exit(status))
}

function fail(lines: readonly string[], misused = false): void {
  lastWord({ say: 'failed', lines, misused }, 1)
}

function followImports(): void {
  const { port1, port2 } = new MessageChannel()
  port1.on('message', (url: string) => take(fileURLToPath(url)))
  port1.unref()
  const hook = new URL(`imports-worker${SELF.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url)
  register(hook, { data: { port: port2 }, transferList: [port2] })
}

const SELF = import.meta.url

function take(path: string): void {
  if (files.has(path)) return
  files.add(path)
  tell({ say: 'imports', path })
}

async function load(file: string, wanted: Wanted): Promise<void> {
  take(file)
  followImports()
  try {
    const module: Record<string, unknown> = await import(pathToFileURL(file).href)
    for (const path of Object.keys(createRequire(file).cache)) {
      if (!path.includes('node_modules')) take(path)
    }
    const exported = readExports(module)
    if (!exported.ok) return fail([`${file} cannot be run as an agent.`, ...exported.lines], true)
    const missing = missingIn(exported, wanted)
    if (missing.length > 0) return fail(missing, true)
    loaded = { file, exported, wanted }
    tell({ say: 'loaded' })
  } catch (error) {
    const place = placeIn(error, [...files])
    if (place !== undefined) return fail(place)
    // Node itself says where the syntax of a plain file breaks off, and nobody else can.
    tell({ say: 'failed', lines: [], misused: false })
    throw error
  }
}

function missingIn({ options }: Loaded['exported'], wanted: Wanted): readonly string[] {
  if ((wanted.owner ?? options.owner) !== undefined) return []
  return [
    'owner: expected who is paid for the work; came nothing.',
    'Say --owner <name> or CHIMERA_OWNER, or `owner` in the options that the file exports.',
  ]
}

async function start({ exported, wanted, file }: Loaded, port: number | undefined): Promise<void> {
  const { options, skills } = exported
  try {
    const name = wanted.name ?? options.name ?? nameOf(file)
    const owner = wanted.owner ?? options.owner ?? ''
    const hub = wanted.hub ?? options.hub ?? HUB
    const opened = wanted.keep === undefined ? undefined : await openKeep(wanted.keep, { clock })
    closeKeep = opened?.close
    const keep = opened?.keep ?? options.keep ?? createMemoryKeep({ now: clock.now })
    const answers = opened?.answers ?? options.answers
    const work = (event: Extract<FromRunner, { say: 'work' }>['event']) =>
      tell({ say: 'work', event })
    agent = createAgent({
      log: createLog({
        clock,
        name,
        level: 'info',
        destination: logWriter({ json: wanted.json }),
        showInside: true,
      }),
      ...options,
      name,
      owner,
      hub,
      skills: skills.map((each) => telltale(each, (error) => sayThrown(each.id, error))),
      keep: wanted.telling ? telling(keep, { clock, tell: work }) : keep,
      ...(answers && { answers }),
      ...(wanted.token !== undefined && { token: wanted.token }),
      ...(port !== undefined && { listen: { ...options.listen, port } }),
      // R2.
      signals: false,
    })
    await agent.start()
    tell({ say: 'started', started: startedOf(agent, { name, owner, hub, exported, keep }) })
    if (!agent.registered()) void tellRegistered(agent)
  } catch (error) {
    await closeKeep?.()
    fail(explained(error))
  }
}

const LOOK_MS = 500

async function tellRegistered(running: Agent): Promise<void> {
  while (!running.registered()) await clock.sleep(LOOK_MS)
  tell({ say: 'registered' })
}

/** The caller reads a code; whoever wrote the skill wants the line. */
function sayThrown(skill: string, error: unknown): void {
  const lines = placeIn(error, [...files]) ?? [String(error)]
  const [first = '', ...rest] = lines
  console.error([`${clockTime(clock.now())}  threw     ${skill}  ${first}`, ...rest].join('\n'))
}

/** `word-count.ts` → `chimera-word-count`: what OpenClaw lets an agent be called. */
function nameOf(file: string): string {
  const word = basename(file, extname(file))
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
  const plain = word.replace(/^(chimera-)?-*|-+$/g, '')
  return `chimera-${plain === '' ? 'agent' : plain}`
}

function startedOf(
  running: Agent,
  told: Pick<Started, 'name' | 'owner' | 'hub'> & {
    readonly exported: Loaded['exported']
    readonly keep: { readonly durable: boolean }
  },
): Started {
  const { exported, keep, ...names } = told
  const { directory = join('.chimera', names.name.toLowerCase().replace(/[^a-z0-9-]+/g, '-')) } =
    exported.options
  return {
    ...names,
    id: running.id(),
    address: running.address(),
    skills: exported.skills.map(({ id, priceCents }) => ({ id, priceCents })),
    durable: keep.durable,
    registered: running.registered(),
    ...(directory !== false && { directory }),
  }
}

function explained(error: unknown): readonly string[] {
  if (!(error instanceof Error)) return [String(error)]
  const next: Readonly<Record<string, string>> = {
    hub_refused: 'A hub that is not open wants the owner’s token: --token-file or CHIMERA_TOKEN.',
    database_unreachable: 'Is the server running, and is --keep its address?',
    answers_locked: 'One process at a time: stop the other one, or name another --keep.',
    EADDRINUSE: 'Name another port with --port, or leave it out for a free one.',
  }
  const code = 'code' in error ? String(error.code) : ''
  const first = error instanceof AgentError ? 'The agent cannot start: ' : ''
  return [`${first}${error.message}`, ...(next[code] === undefined ? [] : [next[code]])]
}

function stop(reason: string): Promise<void> {
  ending ??= (async () => {
    const report = await agent?.stop(reason)
    await closeKeep?.()
    const notClosed = report?.notClosed.map(({ name }) => name) ?? []
    lastWord({ say: 'stopped', notClosed }, 0)
  })()
  return ending
}

process.on('SIGINT', () => undefined)
process.on('SIGTERM', () => void stop('SIGTERM'))
process.on('disconnect', () => void stop('the command is gone'))
process.on('message', (message: ToRunner) => {
  if (message.say === 'load') void load(message.file, message.wanted)
  else if (message.say === 'stop') void stop(message.reason)
  else if (loaded !== undefined) void start(loaded, message.port)
})
