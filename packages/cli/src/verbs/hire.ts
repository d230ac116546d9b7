/**
 * `chimera hire`: has work done. The output goes to standard output, what happens on the way and
 * what it cost to standard error.
 *
 *   H1  Ctrl-C gives the hire up in good order: what was asked for is called off, what is held is
 *       given back. A second one ends the process at once.
 *   H2  The exit status says what a script can do next, so that nobody reads sentences.
 */
import { connect, type Network } from '@chimera/agent/hire/connect'
import { HireFailure, type HireFailureCode } from '@chimera/agent/hire/failure'
import { writeCents } from '@chimera/dialects/wire'
import { LIMITS } from '@chimera/domain/limits'
import { createClock } from '@chimera/host/clock'
import { optional, setting, type Values } from '@chimera/host/settings/declare'
import { duration, fraction, text, whole } from '@chimera/host/settings/kinds'
import { Command } from 'commander'
import { readActing } from '../acting.ts'
import { credits, HUB_ADDRESS, HUB_TOKEN, readFlags } from '../flags.ts'
import { showSteps } from '../hire-steps.ts'
import { INPUT_ABOUT, readInput } from '../input.ts'
import { createLiveLine, type LiveLine } from '../live-line.ts'
import { plain, printJson } from '../show.ts'
import { FAILED, MISUSED, Trouble } from '../trouble.ts'

export const HIRER = {
  ...HUB_ADDRESS,
  ...HUB_TOKEN,
  owner: optional(text({ least: 1, most: LIMITS.ownerChars }), {
    about: 'Who pays; an open hub knows it from here alone. CHIMERA_OWNER says it for all.',
  }),
  as: optional(text(), {
    about: 'Ask as the agent whose id and key are kept in this directory, and sign with its key.',
  }),
} as const

const ASKED = {
  ...HIRER,
  input: setting(text({ least: 1, most: LIMITS.bodyBytes }), {
    fallback: '{}',
    about: INPUT_ABOUT,
  }),
  budget: setting(credits(), {
    fallback: 0,
    about: 'The most that it may cost, in credits: 0, which is only what is free, unless given.',
  }),
  deadline: setting(duration({ least: 1, most: LIMITS.workMs }), {
    fallback: 60_000,
    about: 'From now, over all attempts, such as 30s or 10m; 1m unless given.',
  }),
  key: optional(text({ least: 1, most: LIMITS.keyChars }), {
    about: 'Your name for this hire: the same one finds the same work, also after a crash.',
  }),
  minReputation: optional(fraction({ least: 0, most: 100 }), {
    about: 'Leave out whoever has a lower score.',
  }),
  priority: optional(whole({ least: 1, most: 10 }), { about: '1 first, 10 last; 5 unless given.' }),
} as const

// biome-ignore format: a table is read by its columns
const STATUS: Readonly<Record<HireFailureCode, number>> = {
  terms_invalid:   MISUSED,
  hub_refused:     FAILED,
  hub_unanswered:  FAILED,
  nobody_found:    3,
  nobody_accepted: 3,
  agent_refused:   3,
  agent_silent:    3,
  work_failed:     4,
  work_cancelled:  4,
  deadline_passed: 5,
  outcome_unknown: 6,
  given_up:        130,
}

export function hireVerb(): Command {
  return withHirerFlags(new Command('hire'))
    .description('Have work done: find somebody, ask, wait, pay')
    .argument('<skill>', 'With its version or without: word_count, word_count@v1')
    .option('--input <json>', ASKED.input.about)
    .option('--budget <credits>', ASKED.budget.about)
    .option('--deadline <time>', ASKED.deadline.about)
    .option('--key <name>', ASKED.key.about)
    .option('--min-reputation <score>', ASKED.minReputation.about)
    .option('--priority <number>', ASKED.priority.about)
    .option('--quiet', 'Say nothing of what happens on the way.')
    .option('--json', 'Print all of the outcome: output, cost, task, agent; also of a failure.')
    .addHelpText(
      'after',
      `
Examples:
  chimera hire word_count --input '{"text":"one two"}' --budget 0.10 --owner acme
  chimera hire summarize --input @article.json --budget 2 --deadline 5m --token-file acme.token
  cat article.json | chimera hire summarize --input - --budget 2 --json | jq .output
  chimera hire report --key "report-$(date +%F)" --budget 5     the same one if it runs again

Ctrl-C calls it off.
Exit status:
  0    done and paid          4    the agent reports that it failed, or called it off
  1    the hub said no        5    not done by the deadline, and called off
  2    wrong words            6    nobody can say yet how it ended: chimera work show <task>
  3    nobody does it         130  called off by you
Only after 6 something may still be owed.`,
    )
    .action(run)
}

export function withHirerFlags(verb: Command): Command {
  return verb
    .option('--hub <address>', HIRER.hub.about)
    .option('--token-file <file>', HIRER.token.about)
    .option('--owner <name>', HIRER.owner.about)
    .option('--as <directory>', HIRER.as.about)
}

/** The hirer's side of a network, as it was said on the command line. */
export async function connectAs(asked: Values<typeof HIRER>): Promise<Network> {
  const { hub, owner, as: directory, token } = asked
  const acting = directory === undefined ? undefined : await readActing(directory, '--as')
  const said = token?.reveal() ?? (process.env.CHIMERA_TOKEN || undefined)
  return connect({
    hub,
    ...(owner !== undefined && { owner }),
    ...(said !== undefined && { token: said }),
    ...(acting && { as: { agent: acting.agent, key: acting.key } }),
  })
}

type Options = Readonly<Record<string, unknown>> & {
  readonly quiet?: boolean
  readonly json?: boolean
}

async function run(skill: string, options: Options): Promise<void> {
  const { quiet = false, json = false, ...flags } = options
  const asked = await readFlags(ASKED, flags)
  const input = await readInput(asked.input)
  const network = await connectAs(asked)
  const line = createLiveLine(process.stderr)
  const clock = createClock()
  const began = clock.now()
  const show = showSteps(line, { isLive: process.stderr.isTTY })
  const names = new Map<string, string>()
  const signal = givenUp(line)
  try {
    const hired = await network.hire(skill, input, {
      budget: writeCents(asked.budget),
      deadline: asked.deadline,
      signal,
      ...(asked.key !== undefined && { key: asked.key }),
      ...(asked.minReputation !== undefined && { minReputation: asked.minReputation }),
      ...(asked.priority !== undefined && { priority: asked.priority }),
      onProgress: (step) => {
        if ('agent' in step) names.set(step.agent, step.name)
        if (!quiet && !signal.aborted) show(step)
      },
    })
    line.clear()
    const { output, cost, task, agent, hold, declined } = hired
    if (json) {
      const asked_before = declined.map(({ agent: id, name, how, code, sentence }) => ({
        agent_id: id,
        name,
        how,
        code,
        sentence,
      }))
      printJson({ output, cost, task_id: task, agent_id: agent, hold_id: hold, asked_before })
      return
    }
    printJson(output)
    if (quiet) return
    const seconds = ((clock.now() - began) / 1_000).toFixed(1)
    const price = cost === 0 ? 'nothing' : `${cost.toFixed(2)} credits`
    const who = names.has(agent) ? `${names.get(agent)} (${agent})` : agent
    console.error(plain(`Done in ${seconds} s by ${who} for ${price}.`))
    console.error(`Task ${task}`)
  } catch (error) {
    line.clear()
    if (!(error instanceof HireFailure)) throw error
    if (json) printFailure(error)
    throw await explained(error, { skill, asked, network, told: !quiet })
  } finally {
    await network.close()
  }
}

/** H1. */
function givenUp(line: LiveLine): AbortSignal {
  const over = new AbortController()
  process.on('SIGINT', () => {
    if (over.signal.aborted) process.exit(STATUS.given_up)
    line.note('Calling it off; once more ends at once.')
    over.abort()
  })
  return over.signal
}

function printFailure({ code, message, detail, task, agent, fault, declined }: HireFailure): void {
  printJson({
    code,
    message,
    ...(detail !== '' && { detail }),
    ...(task !== undefined && { task_id: task }),
    ...(agent !== undefined && { agent_id: agent }),
    ...(fault && { fault: { code: fault.code, message: fault.message } }),
    asked_before: declined.map(({ agent: id, how, sentence }) => ({ agent_id: id, how, sentence })),
  })
}

type About = {
  readonly skill: string
  readonly asked: Values<typeof ASKED>
  readonly network: Network
  /** Whether it was said already who was asked before. */
  readonly told: boolean
}

async function explained(failure: HireFailure, about: About): Promise<Trouble> {
  const { code, message } = failure
  const next = await nextAfter(failure, about)
  if (code === 'hub_unanswered') return new Trouble(next.map(plain), STATUS[code])
  const reasons = reasonsOf(about.told ? { ...failure, declined: [] } : failure)
  const lines = [message, ...reasons, ...next]
  return new Trouble(lines.map(plain), STATUS[code])
}

/** Why, as far as anybody has said. */
export function reasonsOf({
  detail,
  fault,
  declined,
}: Pick<HireFailure, 'detail' | 'fault' | 'declined'>): readonly string[] {
  return [
    ...(detail === '' ? [] : [detail]),
    ...(fault ? [`${fault.code}: ${fault.message}`] : []),
    ...declined.map(({ name, agent, how, sentence }) =>
      how === 'silent' ? `${name} (${agent}) did not answer.` : `${name} (${agent}): ${sentence}`,
    ),
  ]
}

/** What to do about it. */
async function nextAfter(failure: HireFailure, about: About): Promise<readonly string[]> {
  const { code, refusal, task } = failure
  const { asked, skill, network } = about
  if (code === 'outcome_unknown') {
    return [`\`chimera work show ${task}\` says so when it is known. Ask nobody else before.`]
  }
  if (code === 'hub_unanswered') {
    return [
      `No hub answers on ${asked.hub}.`,
      'Start one with `chimera hub`, or say where yours is with --hub or CHIMERA_HUB.',
    ]
  }
  if (refusal === 'funds_short') return ['`chimera ledger <owner>` shows what is there.']
  if (refusal === 'account_unknown') return ['--owner <name> opens the account of who pays.']
  if (refusal === 'caller_unknown') {
    return ['Who pays? Say --owner on an open hub; elsewhere --token-file or CHIMERA_TOKEN.']
  }
  const picky = failure.declined.find((each) => each.code === 'input_invalid')
  if (picky !== undefined) {
    return [`\`chimera agents show ${picky.agent} --json\` has what the skill takes.`]
  }
  if (code !== 'nobody_found') return []
  const offers = await network.discover(skill, { limit: 100 }).catch(() => [])
  const prices = offers.map((each) => each.skill.priceCents)
  if (prices.length === 0) return ['`chimera agents skills` lists what is offered.']
  const least = writeCents(Math.min(...prices)).toFixed(2)
  const who = prices.length === 1 ? 'One offers it' : `${prices.length} offer it, the cheapest`
  return [`${who} for ${least}: --budget ${least}`]
}
