/**
 * `chimera watch`: what happens on a hub, one line for each event, as it happens.
 *
 *   W1  A connection that breaks is taken up again behind the last event, so that none is missed
 *       and none comes twice. Where the hub cannot promise that, a line says so.
 *   W2  Only what time can cure is tried again: a hub that says no is believed.
 */
import { checker } from '@chimera/dialects/check'
import { LiveCut, LiveEvent, LiveGap, readLivePlace } from '@chimera/dialects/chimera'
import { ErrorBody } from '@chimera/dialects/error'
import { centsOf } from '@chimera/dialects/wire'
import { LIVE_TOPICS } from '@chimera/domain/live'
import { createClock } from '@chimera/host/clock'
import { optional, setting } from '@chimera/host/settings/declare'
import { choice, type Kind, list, text, whole } from '@chimera/host/settings/kinds'
import { Command } from 'commander'
import { type Heard, readEvents } from '../event-lines.ts'
import { HUB_ADDRESS, HUB_TOKEN, readFlags } from '../flags.ts'
import { plain, writeCredits } from '../show.ts'
import { Trouble } from '../trouble.ts'

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
    .description('Follow what happens on a hub, one line for each event')
    .argument('[topic...]', `Any of ${LIVE_TOPICS.join(', ')}`)
    .option('--hub <address>', ASKED.hub.about)
    .option('--token-file <file>', ASKED.token.about)
    .option('--agent <id>', ASKED.agent.about)
    .option('--owner <name>', ASKED.owner.about)
    .option('--task <id>', ASKED.task.about)
    .option('--after <id>', ASKED.after.about)
    .option('--count <number>', ASKED.count.about)
    .option('--json', 'Print each event as one line of JSON, with its id and topic.')
    .addHelpText(
      'after',
      `
Examples:
  chimera watch                          everything that you may hear, from now on
  chimera watch ledger work              only money and work
  chimera watch audit --after 0 --json   the whole chain, then what follows
  chimera watch --agent 7d0c3c0a-5b1e-4a52-9a53-6f1f0f6f7d11

A connection that breaks is taken up again behind the last event. Ctrl-C ends it.
Exit status: 0 ended by you or --count, 1 the hub said no or is none, 2 the words make no sense.`,
    )
    .action(run)
}

type Options = Readonly<Record<string, unknown>> & { readonly json?: boolean }

// As a browser does, and a little longer with each try in a row.
const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 15_000
// The hub says that it is alive every 15 s.
const SILENCE_MS = 45_000

async function run(topics: readonly string[], options: Options): Promise<void> {
  const { json = false, ...flags } = options
  const asked = await readFlags(ASKED, { ...flags, ...(topics.length > 0 && { topics }) })
  const clock = createClock()
  const print = json ? printJsonLine : printLine
  let last = asked.after
  let left = asked.count ?? Number.POSITIVE_INFINITY
  let told = 0
  let connected = false
  process.once('SIGINT', () => process.exit(0))

  for (let tries = 0; ; tries += 1) {
    const heardBefore = told
    try {
      for await (const heard of listen(
        asked,
        last,
        (id) => (last = id),
        () => (connected = true),
      )) {
        if (heard.event === 'cut') {
          sayCut(heard)
          break
        }
        if (heard.event === 'gap') sayGap(heard)
        if (heard.event === 'gap' && !json) continue
        print(heard)
        told += 1
        left -= heard.event === 'gap' ? 0 : 1
        if (left <= 0) return
      }
      if (connected) say('The stream has ended; connecting again.')
    } catch (error) {
      // A hub that was never there is a mistake in the address; one that was is restarting.
      if (error instanceof Trouble || !connected) throw noHub(asked.hub, error)
      if (tries === 0 || told > heardBefore) say('The connection is lost; connecting again.')
    }
    if (told > heardBefore) tries = 0
    await clock.sleep(Math.min(FIRST_WAIT_MS * 2 ** tries, LONGEST_WAIT_MS))
  }
}

type Asked = Awaited<ReturnType<typeof readFlags<typeof ASKED>>>

async function* listen(
  asked: Asked,
  last: string | undefined,
  seen: (id: string) => void,
  connected: () => void,
): AsyncGenerator<Heard> {
  const over = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const awake = () => {
    clearTimeout(timer)
    timer = setTimeout(() => over.abort(new Error('silence')), SILENCE_MS)
  }
  awake()
  try {
    const response = await fetch(addressOf(asked), {
      signal: over.signal,
      headers: headersOf(asked, last),
    })
    if (response.status !== 200) {
      const isLater = response.status === 503 || response.status === 429
      const words = explain(await response.text())
      if (!isLater) throw new Trouble(words)
      say(words[0] ?? 'The hub has no room.')
      return
    }
    connected()
    async function* bytes(): AsyncGenerator<Uint8Array> {
      for await (const part of response.body ?? []) {
        awake()
        yield part
      }
    }
    yield* readEvents(bytes(), seen)
  } finally {
    clearTimeout(timer)
    over.abort()
  }
}

function addressOf({ hub, topics, agent, owner, task, after }: Asked): string {
  const query = new URLSearchParams({
    ...(topics.length > 0 && { topics: topics.join(',') }),
    ...(agent !== undefined && { agent_id: agent }),
    ...(owner !== undefined && { owner_id: owner }),
    ...(task !== undefined && { task_id: task }),
    // The field beside it counts first; this one lets the hub say what is wrong with it.
    ...(after !== undefined && { after }),
  })
  const words = query.toString()
  return `${hub.replace(/\/+$/, '')}/v1/live${words === '' ? '' : `?${words}`}`
}

function headersOf({ token }: Asked, last: string | undefined): Record<string, string> {
  const presented = token?.reveal() ?? (process.env.CHIMERA_TOKEN || undefined)
  return {
    accept: 'text/event-stream',
    ...(presented !== undefined && { authorization: `Bearer ${presented}` }),
    ...(last !== undefined && last !== '0' && { 'last-event-id': last }),
  }
}

function printJsonLine({ id, event, data }: Heard): void {
  console.log(JSON.stringify({ id, topic: event, ...(JSON.parse(data) as object) }))
}

const COLOURS: Readonly<Record<string, number>> = {
  presence: 36,
  work: 33,
  ledger: 32,
  trust: 35,
  audit: 90,
}
const checkEvent = checker(LiveEvent)

function printLine({ event, data }: Heard): void {
  const checked = checkEvent(JSON.parse(data))
  if (!checked.ok) return
  const { kind, at, ...others } = checked.message
  const topic = event.padEnd(8)
  const isShown = process.stdout.isTTY && (process.env.NO_COLOR ?? '') === ''
  const shown = isShown ? `\u001b[${COLOURS[event] ?? 0}m${topic}\u001b[0m` : topic
  console.log(
    `${plain(at)}  ${shown}  ${plain(`${kind.padEnd(20)} ${detailsOf(others)}`.trimEnd())}`,
  )
}

type Shown = Extract<ReturnType<typeof checkEvent>, { readonly ok: true }>['message']
type Details = Omit<Shown, 'kind' | 'at'>

/** Who first, then what; the rest is in --json. */
function detailsOf(details: Details): string {
  const { agent_id, owner_id, payer, payee, amount, price, task_id, state, because, how } = details
  const { change, alias, slots, slots_free, slots_total, seq } = details
  const words = [
    agent_id,
    payer === undefined || payee === undefined
      ? (payer ?? payee ?? owner_id)
      : `${payer} > ${payee}`,
    amount === undefined ? undefined : writeCredits(centsOf(amount)),
    price === undefined ? undefined : `at ${writeCredits(centsOf(price))}`,
    state === undefined ? undefined : `${state} ${slots_free ?? 0}/${slots_total ?? 0}`,
    slots === undefined ? undefined : `${slots} slots`,
    change,
    alias,
    how,
    because,
    task_id === undefined ? undefined : `task ${task_id}`,
    seq === undefined ? undefined : `#${seq}`,
  ]
  return words.filter((word) => word !== undefined).join('  ')
}

const checkGap = checker(LiveGap)
const checkCut = checker(LiveCut)

function sayGap({ data }: Heard): void {
  const gap = checkGap(JSON.parse(data))
  if (!gap.ok) return
  const { from, to, topics, why } = gap.message
  const because = why === 'not_kept' ? 'is no longer kept' : 'is not known to this hub'
  say(`Gap: what came after ${from} ${because} (${topics.join(', ')}). Whole again from ${to}.`)
}

function sayCut({ data }: Heard): void {
  const cut = checkCut(JSON.parse(data))
  if (cut.ok && cut.message.why !== 'time') say(`The hub has ended the stream: ${cut.message.why}.`)
}

function explain(body: string): readonly string[] {
  try {
    const refusal = checker(ErrorBody)(JSON.parse(body))
    if (!refusal.ok) return ['What answers there is not a hub that this version understands.']
    const { message, details } = refusal.message
    const issues = details?.issues ?? []
    return [message, ...issues.map((each) => `${each.path}: expected ${each.expected}`)].map(plain)
  } catch {
    return ['What answers there is not a hub that this version understands.']
  }
}

const say = (words: string): void => console.error(plain(words))

const noHub = (hub: string, error: unknown): Trouble =>
  error instanceof Trouble
    ? error
    : new Trouble([
        `No hub answers on ${hub}.`,
        'Start one with `chimera hub`, or say where yours is with --hub or CHIMERA_HUB.',
      ])
