/**
 * `chimera work`: what becomes of work. For whoever has it done, as the hub knows it; for whoever
 * looks after an agent, at the agent's own door.
 *
 *   W1  The agent's side needs the agent's key, which is never sent: it signs the request.
 *   W2  A piece of work is named by its task, by the agent's own name for it, or at the agent by as
 *       much of either as no other one begins with.
 */
import { HireFailure } from '@chimera/agent/hire/failure'
import { checker } from '@chimera/dialects/check'
import { AgentWork, HoldList, WorkShown } from '@chimera/dialects/chimera'
import { centsOf, instantOf } from '@chimera/dialects/wire'
import { createClock } from '@chimera/host/clock'
import { optional, setting } from '@chimera/host/settings/declare'
import { text, url, whole } from '@chimera/host/settings/kinds'
import { Command } from 'commander'
import { findActing } from '../acting.ts'
import { type AgentDoor, openAgentDoor } from '../agent-door.ts'
import { askHub, type Sent, understand } from '../ask.ts'
import { HUB_ADDRESS, readFlags } from '../flags.ts'
import { plain, printJson, printTable, writeCredits } from '../show.ts'
import { writeSpan, writeWhen } from '../span.ts'
import { FAILED, MISUSED, Trouble } from '../trouble.ts'
import { connectAs, HIRER, reasonsOf, withHirerFlags } from './hire.ts'

const AT_AGENT = {
  ...HUB_ADDRESS,
  agent: optional(text(), {
    about: 'At this agent: the directory with its id and key, such as .chimera/chimera-counter.',
  }),
  at: optional(url('http', 'https'), {
    about: 'Where the agent is reached; the hub is asked for it if nothing is said.',
  }),
} as const
const LISTED = {
  ...HIRER,
  ...AT_AGENT,
  limit: setting(whole({ least: 1, most: 100 }), { fallback: 20, about: 'How many to list.' }),
} as const
const SHOWN = { ...HIRER, ...AT_AGENT } as const

export function workVerb(): Command {
  return new Command('work')
    .description('What becomes of work: list, show, cancel; approve and resend at your own agent')
    .addCommand(
      withAgentFlags(withHirerFlags(new Command('list')))
        .description('Your work at the hub, or with --agent what there is to do at your agent')
        .option('--limit <count>', LISTED.limit.about)
        .option('--json', 'Print what was answered.')
        .action(list),
    )
    .addCommand(
      withAgentFlags(withHirerFlags(new Command('show')))
        .description('One piece of work: how it stands, what it cost, what came of it')
        .argument('<task>', 'Its task id, or the agent’s own name for it')
        .option('--json', 'Print what was answered.')
        .action(show),
    )
    .addCommand(
      withHirerFlags(new Command('cancel'))
        .description('Call off work that you asked for, unless it is done already')
        .argument('<task>', 'Its task id, as `hire` and `work list` show it')
        .option('--json', 'Print how it stands afterwards.')
        .action(cancel),
    )
    .addCommand(
      withOwnAgent(new Command('approve'))
        .description('Agree to work that waits on a person at your agent')
        .argument('<id>', 'As `work list --agent` shows it, or its beginning')
        .action((id: string, flags: Options) => act('approve', id, flags)),
    )
    .addCommand(
      withOwnAgent(new Command('resend'))
        .description('Try again to deliver a result that was given up at your agent')
        .argument('<id>', 'As `work list --agent` shows it, or its beginning')
        .action((id: string, flags: Options) => act('resend', id, flags)),
    )
    .addHelpText(
      'after',
      `
Examples:
  chimera work list --owner acme                      what acme has put credits aside for
  chimera work show 2f1c7c0e-5b1e-4a52-9a53-6f1f0f6f7d11
  chimera work cancel 2f1c7c0e-5b1e-4a52-9a53-6f1f0f6f7d11 --owner acme
  chimera work list --agent .chimera/chimera-counter  what your agent has to do
  chimera work approve 2f1c                           agree to what waits there

At your own agent --agent can be left out where only one was started in this folder.`,
    )
}

function withAgentFlags(verb: Command): Command {
  return verb
    .option('--agent <directory>', AT_AGENT.agent.about)
    .option('--at <address>', AT_AGENT.at.about)
}

function withOwnAgent(verb: Command): Command {
  return withAgentFlags(verb.option('--hub <address>', HUB_ADDRESS.hub.about))
}

type Options = Readonly<Record<string, unknown>> & { readonly json?: boolean }

const now = createClock().now

async function list({ json = false, ...flags }: Options): Promise<void> {
  const asked = await readFlags(LISTED, flags)
  if (asked.agent !== undefined || asked.at !== undefined) return listAtAgent(asked, json)
  const { hub, owner, limit } = asked
  const answer = await askHub(hub, `/v1/holds?limit=${limit}`, await callerOf(asked))
  const { holds } = understand(answer, { check: checker(HoldList), hub })
  // An open hub knows nobody, and shows everybody's.
  const own = owner === undefined ? holds : holds.filter(({ payer_id }) => payer_id === owner)
  if (json) return printJson({ holds: own })
  if (own.length === 0) {
    console.error(
      `No credits ${owner === undefined ? 'are' : `of ${owner} are`} put aside for work.`,
    )
    console.error('`chimera hire <skill>` has some done; free work is known by its task alone.')
    return
  }
  printTable(
    [
      { title: 'TASK' },
      { title: 'STATE' },
      { title: 'PAYER' },
      { title: 'AGENT' },
      { title: 'PRICE', align: 'right' },
      { title: 'DEADLINE' },
    ],
    own.map((each) => [
      each.task_id,
      HOLD_WORDS[each.state],
      each.payer_id,
      each.agent_id,
      writeCredits(centsOf(each.price ?? each.amount)),
      each.deadline === undefined ? undefined : writeWhen(instantOf(each.deadline), now()),
    ]),
  )
}

/** What a hold says about the work that it is for. */
const HOLD_WORDS = {
  placed: 'asked',
  confirmed: 'accepted',
  captured: 'paid',
  released: 'given back',
  lapsed: 'lapsed',
} as const

type AtAgent = Pick<Awaited<ReturnType<typeof readFlags<typeof SHOWN>>>, 'hub' | 'agent' | 'at'>

async function atAgent<T>(asked: AtAgent, use: (door: AgentDoor) => Promise<T>): Promise<T> {
  const door = await openAgentDoor(await findActing(asked.agent, '--agent'), asked)
  try {
    return await use(door)
  } finally {
    await door.close()
  }
}

async function listAtAgent(asked: AtAgent & { readonly limit: number }, json: boolean) {
  const { answer, address } = await atAgent(asked, async (door) => ({
    answer: await door.get('/v1/work'),
    address: door.address,
  }))
  const { work } = understand(answer, { check: checker(AgentWork), hub: address })
  if (json) return printJson(answer)
  if (work.length === 0) {
    console.error(
      'Nothing is under way there, nothing waits on you, and all results are delivered.',
    )
    console.error('`chimera discover <skill>` shows whether the network sees the agent.')
    return
  }
  printTable(
    [
      { title: 'TASK' },
      { title: 'STATE' },
      { title: 'AGE', align: 'right' },
      { title: 'REQUESTER' },
      { title: 'SKILL' },
      { title: 'PRICE', align: 'right' },
      { title: 'DEADLINE' },
      { title: 'NOTE' },
    ],
    work
      .slice(0, asked.limit)
      .map((each) => [
        each.request_id,
        each.state,
        writeSpan(now() - instantOf(each.asked_at)),
        each.requester,
        each.skill,
        writeCredits(centsOf(each.price ?? 0)),
        each.deadline === undefined ? undefined : writeWhen(instantOf(each.deadline), now()),
        noteOf(each),
      ]),
  )
  const waits = work.find(({ state }) => state === 'awaiting')
  if (waits !== undefined) {
    console.error(
      `\`chimera work approve ${plain(waits.request_id)}\` agrees to what waits on you.`,
    )
  }
}

function noteOf({ state, undelivered = [] }: { state: string; undelivered?: readonly string[] }) {
  if (undelivered.length > 0) return `not delivered: ${undelivered.join(', ')}`
  return state === 'awaiting' ? 'waits on you' : ''
}

async function show(task: string, { json = false, ...flags }: Options): Promise<void> {
  const asked = await readFlags(SHOWN, flags)
  if (asked.agent !== undefined || asked.at !== undefined) return showAtAgent(task, asked, json)
  const { hub, owner } = asked
  const query = owner === undefined ? '' : `?${new URLSearchParams({ payer_id: owner }).toString()}`
  const path = `/v1/work/${encodeURIComponent(task)}${query}`
  const answer = await askHub(hub, path, await callerOf(asked))
  const work = understand(answer, { check: checker(WorkShown), hub })
  if (json) return printJson(answer)
  const { ended, settlement, hold, result } = work
  printFields(work.key, [
    ['state', stateOf(work.state, ended?.how)],
    ['agent', work.agent_id],
    ['payer', work.payer_id],
    ['payee', work.payee_id],
    ['price', work.price === undefined ? undefined : writeCredits(centsOf(work.price))],
    ['deadline', work.deadline === undefined ? undefined : whenIs(work.deadline)],
    ['ended', ended && [ended.how, ended.because, ended.at].filter(Boolean).join(', ')],
    ['hold', hold && `${hold.hold_id}, ${hold.state}, ${writeCredits(centsOf(hold.amount))}`],
    ['paid', settlement && `${writeCredits(centsOf(settlement.amount))}, ${settlement.at}`],
    ['error', result?.error && `${result.error.code}: ${result.error.message}`],
    ['content', result?.content === 'deleted' ? 'deleted' : undefined],
  ])
  if (result?.output === undefined) return
  console.log()
  printJson(result.output)
}

function stateOf(state: string, how: string | undefined): string {
  if (state === 'unknown') {
    return 'unknown: accepted, its deadline is over, and nobody has said how it ended'
  }
  if (state !== 'settled' || how === undefined) return state
  return how === 'done' ? 'done, settled' : `${how}, nothing paid`
}

const whenIs = (time: string): string => `${time} (${writeWhen(instantOf(time), now())})`

async function showAtAgent(task: string, asked: AtAgent, json: boolean): Promise<void> {
  const one = await atAgent(asked, (door) => findOne(door, task))
  if (json) return printJson(one)
  printFields(one.request_id, [
    ['state', one.state],
    ['own name', one.collaboration_id],
    ['skill', one.skill],
    ['requester', one.requester],
    ['price', writeCredits(centsOf(one.price ?? 0))],
    ['asked', whenIs(one.asked_at)],
    ['deadline', one.deadline === undefined ? undefined : whenIs(one.deadline)],
    ['error', one.error && `${one.error.code}: ${one.error.message}`],
    ['note', noteOf(one) || undefined],
  ])
}

function printFields(title: string, rows: readonly (readonly [string, string | undefined])[]) {
  const known = rows.filter(([, value]) => value !== undefined)
  printTable([{ title: 'TASK' }, { title: plain(title) }], known)
}

async function cancel(task: string, { json = false, ...flags }: Options): Promise<void> {
  const asked = await readFlags(HIRER, flags)
  const network = await connectAs(asked)
  try {
    await network.cancel(task)
    const work = await network.result(task)
    if (json) return printJson({ task_id: task, state: work?.state ?? 'unknown' })
    if (work?.end === 'done') {
      console.error(
        'It was done already, and is paid for: `chimera work show` has what came of it.',
      )
    } else console.error('Called off. Nothing is owed, and what was put aside is given back.')
  } catch (error) {
    if (!(error instanceof HireFailure)) throw error
    if (error.code === 'work_cancelled') {
      if (json) return printJson({ task_id: task, state: 'cancelled' })
      return console.error('Called off. Nothing is owed, and what was put aside is given back.')
    }
    const isWord = error.code === 'terms_invalid'
    const words = isWord
      ? [`<task>: expected a task id, a uuid; came ${JSON.stringify(task)}.`]
      : error.refusal === 'work_unknown'
        ? ['The hub knows no work of yours under this task.', '`chimera work list` shows it.']
        : [error.message, ...reasonsOf(error)]
    throw new Trouble(words.map(plain), isWord ? MISUSED : FAILED)
  } finally {
    await network.close()
  }
}

async function act(what: 'approve' | 'resend', id: string, flags: Options): Promise<void> {
  const asked = await readFlags(AT_AGENT, flags)
  const one = await atAgent(asked, async (door) => {
    const found = await findOne(door, id)
    await door.post(`/v1/work/${found.collaboration_id}/${what}`)
    return found
  })
  const { skill, requester, request_id: task } = one
  console.error(
    plain(
      what === 'approve'
        ? `Approved: ${skill} for ${requester}, task ${task}.`
        : `Sending again what came of ${skill} for ${requester}, task ${task}.`,
    ),
  )
}

/** W2. */
async function findOne(door: AgentDoor, id: string) {
  const check = checker(AgentWork)
  const read = (answer: unknown) => understand(answer, { check, hub: door.address }).work
  const listed = read(await door.get('/v1/work'))
  const fitting = listed.filter(({ request_id, collaboration_id }) =>
    [request_id, collaboration_id].some((name) => name.startsWith(id.toLowerCase())),
  )
  if (fitting.length > 1) {
    const names = fitting.map(({ request_id }) => request_id)
    throw new Trouble([`Which one? ${id} begins ${names.length} of them:`, ...names], MISUSED)
  }
  const [one] =
    fitting.length === 1 ? fitting : read(await door.get(`/v1/work/${encodeURIComponent(id)}`))
  if (one === undefined) throw new Trouble('No work is known under this id.')
  return one
}

async function callerOf(asked: Awaited<ReturnType<typeof readFlags<typeof HIRER>>>): Promise<Sent> {
  if (asked.as === undefined) return { token: asked.token }
  return { key: (await findActing(asked.as, '--as')).key }
}
