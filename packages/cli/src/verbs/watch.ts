/**
 * `chimera watch`: a network as it lives. At a terminal the whole of it on one screen; into a pipe,
 * or where it is asked for, one line for each event, as it happens.
 */
import { checker } from '@chimera/dialects/check'
import { LiveGap, readLivePlace } from '@chimera/dialects/chimera'
import { LIVE_TOPICS } from '@chimera/domain/live'
import { createClock } from '@chimera/host/clock'
import { optional, setting } from '@chimera/host/settings/declare'
import { choice, type Kind, list, text, whole } from '@chimera/host/settings/kinds'
import { Command } from 'commander'
import type { Heard } from '../event-lines.ts'
import { HUB_ADDRESS, HUB_TOKEN, readFlags } from '../flags.ts'
import { plain } from '../show.ts'
import { type Terminal, watchScreen } from '../watch/screen.ts'
import { followLive } from '../watch/stream.ts'
import { COLOURS, detailsOf, toldBy } from '../watch/words.ts'

/** An id as it came. */
function place(): Kind<string> {
  return {
    expected: 'the id of an event as it came, or 0',
    read: (raw) => (readLivePlace(String(raw)) === undefined ? undefined : String(raw)),
    show: (id) => id,
  }
}

const ASKED = {
  ...HUB_ADDRESS,
  ...HUB_TOKEN,
  topics: setting(list(choice(LIVE_TOPICS), LIVE_TOPICS.length), {
    fallback: [],
    about: 'What to follow; everything but audit if nothing is said.',
  }),
  agent: optional(text({ least: 1, most: 64 }), { about: 'Only events about this agent.' }),
  owner: optional(text({ least: 1, most: 128 }), { about: 'Only events about this owner.' }),
  task: optional(text({ least: 1, most: 256 }), { about: 'Only events about this task or job.' }),
  after: optional(place(), {
    about: 'Begin behind this event; 0 is the beginning. From now on if nothing is said.',
  }),
  count: optional(whole({ least: 1, most: 1_000_000_000 }), {
    about: 'Stop after so many events.',
  }),
} as const

export function watchVerb(): Command {
  return new Command('watch')
    .description('Watch a network live: on one screen at a terminal, else a line for each event')
    .argument('[topic...]', `Any of ${LIVE_TOPICS.join(', ')}`)
    .option('--hub <address>', ASKED.hub.about)
    .option('--token-file <file>', ASKED.token.about)
    .option('--agent <id>', ASKED.agent.about)
    .option('--owner <name>', ASKED.owner.about)
    .option('--task <id>', ASKED.task.about)
    .option('--after <id>', ASKED.after.about)
    .option('--count <number>', ASKED.count.about)
    .option('--lines', 'A line for each event also at a terminal, as --after and --count do.')
    .option('--json', 'Print each event as one line of JSON, with its id and topic.')
    .addHelpText(
      'after',
      `
Examples:
  chimera watch                          agents, work, money and events; q leaves
  chimera watch --lines                  everything that you may hear, from now on
  chimera watch ledger work | tee log    only money and work
  chimera watch audit --after 0 --json   the whole chain, then what follows
  chimera watch --agent 7d0c3c0a-5b1e-4a52-9a53-6f1f0f6f7d11

A connection that breaks is taken up again behind the last event. Ctrl-C ends it. Colours are
only for terminals, and for none where NO_COLOR is set.
Exit status: 0 ended by you or --count, 1 the hub said no or is none, 2 the words make no sense.`,
    )
    .action(run)
}

type Options = Readonly<Record<string, unknown>> & {
  readonly json?: boolean
  readonly lines?: boolean
}

async function run(topics: readonly string[], options: Options): Promise<void> {
  const { json = false, lines = false, ...flags } = options
  const asked = await readFlags(ASKED, { ...flags, ...(topics.length > 0 && { topics }) })
  const wantsStream = json || lines || asked.count !== undefined || asked.after !== undefined
  const { stdin, stdout } = process
  if (!wantsStream && stdin.isTTY && stdout.isTTY) return showScreen(asked)
  process.once('SIGINT', () => process.exit(0))
  await printLines(asked, json ? printJsonLine : printLine, json)
}

type Asked = Awaited<ReturnType<typeof readFlags<typeof ASKED>>>

async function printLines(asked: Asked, print: (heard: Heard) => void, json: boolean) {
  let left = asked.count ?? Number.POSITIVE_INFINITY
  for await (const heard of followLive(asked, { clock: createClock(), say })) {
    const isGap = heard.event === 'gap'
    if (isGap) sayGap(heard)
    if (isGap && !json) continue
    print(heard)
    left -= isGap ? 0 : 1
    if (left <= 0) return
  }
}

async function showScreen(asked: Asked): Promise<void> {
  const over = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => over.abort())
  }
  const terminal = terminalOf(process.stdin, process.stdout)
  await watchScreen(asked, { terminal, clock: createClock(), over })
  // Whatever a connection still waits for, nobody looks any more.
  process.exit()
}

function terminalOf(stdin: NodeJS.ReadStream, stdout: NodeJS.WriteStream): Terminal {
  return {
    // Some terminals say that they have none.
    size: () => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 }),
    colour: hasColour(),
    write: (text) => void stdout.write(text),
    onKeys(hear) {
      const take = (keys: Buffer): void => hear(keys.toString())
      stdin.setRawMode(true)
      stdin.on('data', take).resume()
      return () => {
        stdin.off('data', take).pause()
        stdin.setRawMode(false)
      }
    },
    onResize(hear) {
      stdout.on('resize', hear)
      return () => void stdout.off('resize', hear)
    },
  }
}

function printJsonLine({ id, event, data }: Heard): void {
  console.log(JSON.stringify({ id, topic: event, ...(JSON.parse(data) as object) }))
}

const hasColour = (): boolean => process.stdout.isTTY && (process.env.NO_COLOR ?? '') === ''

function printLine(heard: Heard): void {
  const told = toldBy(heard)
  if (told === undefined) return
  const { event } = heard
  const topic = event.padEnd(8)
  const shown = hasColour() ? `\u001b[${COLOURS[event] ?? 0}m${topic}\u001b[0m` : topic
  const rest = `${told.kind.padEnd(20)} ${detailsOf(told)}`.trimEnd()
  console.log(`${plain(told.at)}  ${shown}  ${plain(rest)}`)
}

const checkGap = checker(LiveGap)

function sayGap({ data }: Heard): void {
  const gap = checkGap(JSON.parse(data))
  if (!gap.ok) return
  const { from, to, topics, why } = gap.message
  const because = why === 'not_kept' ? 'is no longer kept' : 'is not known to this hub'
  say(`Gap: what came after ${from} ${because} (${topics.join(', ')}). Whole again from ${to}.`)
}

const say = (words: string): void => console.error(plain(words))
