/**
 * `chimera agent`: runs a file of skills as an agent until it is told to stop. What it prints for
 * people goes to standard error, a line for each piece of work to standard output.
 */
import { stat } from 'node:fs/promises'
import { extname, resolve } from 'node:path'
import { createClock } from '@chimera/host/clock'
import { optional } from '@chimera/host/settings/declare'
import { text, url, whole } from '@chimera/host/settings/kinds'
import { stopOnSignals } from '@chimera/host/signals'
import { createStop } from '@chimera/host/stop'
import { Command } from 'commander'
import { clockTime } from '../agent/log-lines.ts'
import type { Started } from '../agent/messages.ts'
import { type Screen, supervise } from '../agent/supervise.ts'
import type { WorkEvent } from '../agent/work-events.ts'
import { HUB_TOKEN, readFlags } from '../flags.ts'
import { plain, writeCredits } from '../show.ts'
import { MISUSED, Trouble } from '../trouble.ts'

const ASKED = {
  ...HUB_TOKEN,
  hub: optional(url('http', 'https'), {
    about: 'The hub to belong to: http://127.0.0.1:4600 if neither CHIMERA_HUB nor the file says.',
  }),
  owner: optional(text({ least: 1, most: 128 }), {
    about: 'Whose it is, and who is paid for its work; CHIMERA_OWNER says it for all.',
  }),
  name: optional(text({ least: 1, most: 128 }), {
    about: 'What it is called: chimera- and small letters, digits and hyphens. From the file name.',
  }),
  keep: optional(text({ least: 1, most: 2_048 }), {
    about: 'A directory where its work outlives a crash, or a PostgreSQL: postgres://…',
  }),
  port: optional(whole({ least: 0, most: 65_535 }), {
    about: 'The port that it listens on, on this machine; a free one if nothing is said.',
  }),
} as const

export function agentVerb(): Command {
  return new Command('agent')
    .description('Run a file of skills as an agent')
    .argument('<file>', 'A module that exports skills: .ts, .mts, .js or .mjs')
    .option('--watch', 'Start it anew when the file, or what it imports beside it, changes.')
    .option('--hub <address>', ASKED.hub.about)
    .option('--owner <name>', ASKED.owner.about)
    .option('--name <name>', ASKED.name.about)
    .option('--token-file <file>', ASKED.token.about)
    .option('--keep <where>', ASKED.keep.about)
    .option('--port <number>', ASKED.port.about)
    .option('--quiet', 'Print no line for each piece of work.')
    .option('--json', 'Print each event as one line of JSON.')
    .addHelpText(
      'after',
      `
The file exports skills, by name or by default, or options for createAgent with skills in them:

  import { defineSkill, Type } from '@chimera/agent'

  export const shout = defineSkill({
    name: 'shout', version: '1.0', price: 0.05,
    input: Type.Object({ text: Type.String() }),
    output: Type.Object({ text: Type.String() }),
    run: async ({ text }) => ({ text: text.toUpperCase() }),
  })

What is said here wins over what the file says.

Examples:
  chimera new agent my-agent                    a file to begin with
  chimera agent skills.ts --owner acme          on the hub of this machine
  chimera agent skills.ts --owner acme --watch  anew after each change
  chimera agent skills.ts --hub https://hub.example.org --token-file acme.token --keep ./work

Ctrl-C tells the network, finishes what runs, and stops; a second one stops at once.
Exit status: 0 stopped by you, 1 it could not start or ended by itself, 2 the words or the file
make no sense.`,
    )
    .action(run)
}

type Options = Readonly<Record<string, unknown>> & {
  readonly watch?: boolean
  readonly quiet?: boolean
  readonly json?: boolean
}

async function run(named: string, options: Options): Promise<void> {
  const { watch = false, quiet = false, json = false, ...flags } = options
  const { hub, owner, name, token, keep, port } = await readFlags(ASKED, flags)
  const file = await fileIn(named)
  const said = token?.reveal() ?? (process.env.CHIMERA_TOKEN || undefined)

  const clock = createClock()
  const stop = createStop({ clock, totalMs: 9_500 })
  stopOnSignals(stop, { clock, source: process, exit: (status) => process.exit(status) })
  const failed = await supervise(
    {
      file,
      watch,
      wanted: {
        telling: !quiet,
        json,
        ...(hub !== undefined && { hub }),
        ...(owner !== undefined && { owner }),
        ...(name !== undefined && { name }),
        ...(said !== undefined && { token: said }),
        ...(keep !== undefined && { keep }),
      },
      ...(port !== undefined && { port }),
    },
    { clock, stop, screen: json ? screenForPrograms : screenForPeople },
  )
  if (failed === undefined) return
  const { lines, misused } = failed
  throw new Trouble(lines.length > 0 ? lines : `${named} cannot be loaded.`, misused ? 2 : 1)
}

const RUNS = ['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs']

async function fileIn(named: string): Promise<string> {
  const path = resolve(named)
  const wrong = (came: string) =>
    new Trouble(
      [
        `<file>: expected a module that exports skills (${RUNS.join(', ')}); came ${came}.`,
        '`chimera new agent` makes one to begin with.',
      ],
      MISUSED,
    )
  if (!RUNS.includes(extname(path))) throw wrong(JSON.stringify(named))
  const found = await stat(path).catch(() => undefined)
  if (!found?.isFile()) throw wrong(`${JSON.stringify(named)}, which is not there`)
  return path
}

const say = (...lines: readonly string[]): void => {
  for (const line of lines) console.error(plain(line))
}

const screenForPeople: Screen = {
  started(started, again) {
    const { name, id, address, hub, owner, skills, durable, directory, registered } = started
    const how = registered ? (again ? 'back' : 'at work') : 'ready'
    say(
      `${name} is ${how} on ${address}, ${registered ? 'at' : 'for'} the hub ${hub}, for ${owner}.`,
    )
    if (!registered) say('That hub does not answer: nobody finds it yet. The hub is asked again.')
    if (again) return
    say(`Its id is ${id}${directory === undefined ? '' : `; its key is in ${directory}`}.`)
    printSkills(skills)
    if (!durable)
      say('Its work is kept in memory only; --keep <directory> lets it outlive a crash.')
    say('Ctrl-C finishes what runs and stops.')
  },
  registered: () => say('The hub has answered: it is at work, and can be found.'),
  work: (event) => console.log(plain(lineOf(event))),
  failed(lines, serving) {
    say(...lines)
    say(serving ? 'The one before goes on. Waiting for a change.' : 'Waiting for a change.')
  },
  changed: (path) => say(`${clockTime(createClock().now())}  changed   ${path}`),
  gone: (how) => say(`The agent ended ${how}. Waiting for a change.`),
  notClosed: (names) => say(`It did not end in time: ${names.join(', ')}.`),
}

/** Words, like the rest of what is said at the start: on standard error. */
function printSkills(skills: Started['skills']): void {
  const widest = Math.max(...skills.map(({ id }) => id.length))
  for (const { id, priceCents } of skills) {
    const price = priceCents === 0 ? 'free' : `${writeCredits(priceCents)} credits a call`
    say(`  ${id.padEnd(widest)}  ${price}`)
  }
}

/** One piece of work, for people. */
export function lineOf(event: WorkEvent): string {
  const { at, task, skill, requester, priceCents, tookMs, state, why } = event
  const price = priceCents === 0 ? 'free' : writeCredits(priceCents)
  const details: Readonly<Record<WorkEvent['event'], readonly string[]>> = {
    asked: [price, `by ${requester}`, state === 'accepted' ? '' : waitsFor(event)],
    approved: [],
    refused: [`by ${requester}`, why ?? ''],
    done: [`in ${tookMs} ms`],
    failed: [`after ${tookMs} ms`, why ?? ''],
    cancelled: [`after ${tookMs} ms`, why ?? ''],
    unknown: ['nobody knows yet how it ended'],
    paid: [price, `by ${requester}`],
  }
  const words = [clockTime(at), event.event.padEnd(9), task.slice(0, 8), skill]
  return [...words, ...details[event.event]].filter((word) => word !== '').join('  ')
}

function waitsFor({ state, task }: WorkEvent): string {
  if (state === 'awaiting') return `waits for you: chimera work approve ${task.slice(0, 8)}`
  return state === 'deferred' ? 'waits for a slot' : ''
}

const line = (fields: object): void => console.log(JSON.stringify(fields))

const screenForPrograms: Screen = {
  started: ({ id, name, owner, hub, address, skills, durable, registered }, again) =>
    line({
      event: again ? 'restarted' : 'started',
      agent_id: id,
      name,
      owner_id: owner,
      hub,
      address,
      skills: skills.map((each) => ({ skill: each.id, price: each.priceCents / 100 })),
      durable,
      registered,
    }),
  registered: () => line({ event: 'registered' }),
  work: ({ at, event, work, task, skill, requester, priceCents, state, tookMs, why }) =>
    line({
      event,
      at: new Date(at).toISOString(),
      collaboration_id: work,
      request_id: task,
      skill,
      requester,
      price: priceCents / 100,
      ...(state !== undefined && { state }),
      ...(tookMs !== undefined && { took_ms: tookMs }),
      ...(why !== undefined && why !== '' && { why }),
    }),
  failed: (lines, serving) => line({ event: 'load_failed', lines, serving }),
  changed: (path) => line({ event: 'changed', path }),
  gone: (how) => line({ event: 'gone', how }),
  notClosed: (names) => line({ event: 'not_closed', names }),
}
