/**
 * `chimera control`: an operator steers agents by orders that the hub signs, sees what is in force,
 * and who has obeyed.
 */
import { checker } from '@chimera/dialects/check'
import {
  ControlList,
  ControlOrder,
  ControlOrders,
  ControlSeenList,
  type SignedControl,
} from '@chimera/dialects/chimera'
import { isUuid, writeInstant } from '@chimera/dialects/wire'
import { LIMITS } from '@chimera/domain/limits'
import { createClock } from '@chimera/host/clock'
import { optional, setting, type Values } from '@chimera/host/settings/declare'
import { choice, duration, fraction, text, yesNo } from '@chimera/host/settings/kinds'
import { Command } from 'commander'
import { askHub, understand } from '../ask.ts'
import { HUB_ADDRESS, HUB_TOKEN, readFlags } from '../flags.ts'
import { type Cell, type Column, printJson, printTable } from '../show.ts'
import { withHubFlags } from '../token-terms.ts'
import { MISUSED, Trouble } from '../trouble.ts'

const ORDER = {
  ...HUB_ADDRESS,
  ...HUB_TOKEN,
  agent: optional(text(), { about: 'One agent, by its id.' }),
  owner: optional(text({ least: 1, most: LIMITS.ownerChars }), {
    about: 'All agents of this owner, also those that come later.',
  }),
  all: setting(yesNo(), { fallback: false, about: 'Every agent on the network.' }),
  for: optional(duration({ least: 1_000, most: LIMITS.controlMs }), {
    about: 'How long it holds, such as 2h or 7d, at most 90d; 30d if nothing is said.',
  }),
  reason: optional(text({ least: 1, most: LIMITS.controlReasonChars }), {
    about: 'Why, in a line. The agents read it, so it names no host, path or secret.',
  }),
  id: optional(text(), {
    about: 'A UUID for the order. Given again under the same one, it is the same order.',
  }),
} as const
const SHARE = {
  share: setting(fraction({ least: 0, most: 1 }), { fallback: 0, about: 'From 0 to 1.' }),
} as const
const SWITCH = {
  state: setting(choice(['on', 'off']), { fallback: 'off', about: 'on or off.' }),
} as const

export function controlVerb(): Command {
  return new Command('control')
    .description('Orders to agents: pause, resume, drain, publishing, canary')
    .addCommand(
      withOrder(new Command('pause'))
        .description('They take no new work until they are resumed')
        .action((options: Options) => give({ action: 'pause' }, options)),
    )
    .addCommand(
      withOrder(new Command('resume'))
        .description('They work again')
        .action((options: Options) => give({ action: 'resume' }, options)),
    )
    .addCommand(
      withOrder(new Command('drain'))
        .description('They finish what they have and take nothing new')
        .action((options: Options) => give({ action: 'drain' }, options)),
    )
    .addCommand(
      withOrder(new Command('publishing'))
        .description('Whether they publish to the status feed')
        .argument('<on|off>', SWITCH.state.about)
        .action(async (word: string, options: Options) => {
          const { state } = await readFlags(SWITCH, { state: word })
          await give({ action: 'publishing', enabled: state === 'on' }, options)
        }),
    )
    .addCommand(
      withOrder(new Command('canary'))
        .description('Which share of them publishes; always the same agents, more if it grows')
        .argument('<share>', SHARE.share.about)
        .action(async (word: string, options: Options) => {
          const { share } = await readFlags(SHARE, { share: word })
          await give({ action: 'canary', share }, options)
        }),
    )
    .addCommand(
      withHubFlags(new Command('list'))
        .description('What is in force, for how many agents, and how many have obeyed')
        .action(list),
    )
    .addCommand(
      withHubFlags(new Command('show'))
        .description('What holds for one agent')
        .argument('<agent>', "The agent's id")
        .action(show),
    )
    .addCommand(
      withHubFlags(new Command('seen'))
        .description('Which agents have obeyed an order')
        .argument('<order>', 'The id of the order, as `control list` shows it')
        .action(seen),
    )
    .addHelpText(
      'after',
      `
It needs the token of an operator, and a hub with --auth required: an open hub signs nothing. What
was ordered last holds, to one agent, to an owner's or to all of them.

Examples:
  chimera control pause --agent 7d0c3c0a-5b1e-4a52-9a53-6f1f0f6f7d11 --for 2h
  chimera control drain --owner alice --reason "Moving to new machines"
  chimera control resume --all
  chimera control publishing off --all --reason "The feed rejects what we send"
  chimera control canary 0.1 --all
  chimera control list --token-file operator.token
  chimera control seen 0190a5f0-2a5e-7c11-8f2a-1b2c3d4e5f60`,
    )
}

function withOrder(verb: Command): Command {
  return withHubFlags(verb)
    .option('--agent <id>', ORDER.agent.about)
    .option('--owner <name>', ORDER.owner.about)
    .option('--all', ORDER.all.about)
    .option('--for <time>', ORDER.for.about)
    .option('--reason <text>', ORDER.reason.about)
    .option('--id <uuid>', ORDER.id.about)
}

type Options = Readonly<Record<string, unknown>> & { readonly json?: boolean }

async function give(action: object, { json = false, ...flags }: Options): Promise<void> {
  const asked = await readFlags(ORDER, flags)
  const { hub, token, reason, id } = asked
  const body = {
    ...(id !== undefined && { control_id: uuid(id, 'An order') }),
    ...addresseeOf(asked),
    ...action,
    ...(reason !== undefined && { reason }),
    ...(asked.for !== undefined && { expires_at: writeInstant(createClock().now() + asked.for) }),
  }
  const answer = await askHub(hub, '/v1/control', { body, token })
  const order = understand(answer, { check: checker(ControlOrder), hub })
  if (json) return printJson(answer)
  printTable(COLUMNS, [cellsOf(order)])
  console.error('Agents obey when they next hear of it or ask. Who has:')
  console.error(`  chimera control seen ${order.control_id}`)
}

/** One of the three, and not by leaving something out: an order to all is a big word. */
function addresseeOf({ agent, owner, all }: Values<typeof ORDER>): object {
  const named = [agent, owner, all || undefined].filter((each) => each !== undefined)
  if (named.length !== 1) {
    throw new Trouble('Say to whom: one of --agent <id>, --owner <name> and --all.', MISUSED)
  }
  if (agent !== undefined) return { to: 'agent', agent_id: uuid(agent, 'An agent') }
  return owner === undefined ? { to: 'all' } : { to: 'owner', owner_id: owner }
}

function uuid(word: string, what: string): string {
  if (isUuid(word)) return word
  throw new Trouble(`${what} is named by its id, a UUID.`, MISUSED)
}

const COLUMNS: readonly Column[] = [
  { title: 'ORDER' },
  { title: 'ACTION' },
  { title: 'TO' },
  { title: 'SINCE' },
  { title: 'UNTIL' },
  { title: 'REASON' },
]

const cellsOf = (order: SignedControl): readonly Cell[] => [
  order.control_id,
  wordsFor(order),
  order.agent_id ?? (order.owner_id === undefined ? 'all' : `owner ${order.owner_id}`),
  order.issued_at,
  order.expires_at,
  order.reason,
]

function wordsFor({ action, enabled, share }: SignedControl): string {
  if (action === 'publishing') return `publishing ${enabled ? 'on' : 'off'}`
  return action === 'canary' ? `canary ${share}` : action
}

async function list({ json = false, ...flags }: Options): Promise<void> {
  const { hub, token } = await readFlags({ ...HUB_ADDRESS, ...HUB_TOKEN }, flags)
  const answer = await askHub(hub, '/v1/control', { token })
  const { orders } = understand(answer, { check: checker(ControlList), hub })
  if (json) return printJson(answer)
  if (orders.length === 0) return console.error('Nothing is ordered.')
  printTable(
    [...COLUMNS, { title: 'OBEYED', align: 'right' }],
    orders.map((each) => [...cellsOf(each.order), `${each.seen} of ${each.addressed}`]),
  )
}

async function show(agent: string, { json = false, ...flags }: Options): Promise<void> {
  const { hub, token } = await readFlags({ ...HUB_ADDRESS, ...HUB_TOKEN }, flags)
  const answer = await askHub(hub, `/v1/control/${uuid(agent, 'An agent')}`, { token })
  const { orders } = understand(answer, { check: checker(ControlOrders), hub })
  if (json) return printJson(answer)
  if (orders.length === 0) return console.error('Nothing is ordered for this agent.')
  printTable(COLUMNS, orders.map(cellsOf))
}

async function seen(id: string, { json = false, ...flags }: Options): Promise<void> {
  const { hub, token } = await readFlags({ ...HUB_ADDRESS, ...HUB_TOKEN }, flags)
  const path = `/v1/control/${uuid(id, 'An order')}/seen`
  const found: { readonly agent_id: string; readonly seen_at: string }[] = []
  for (let after = ''; ; ) {
    const answer = await askHub(hub, `${path}${after}`, { token })
    const page = understand(answer, { check: checker(ControlSeenList), hub })
    found.push(...page.seen)
    if (page.next_after === undefined) break
    after = `?after=${page.next_after}`
  }
  if (json) return printJson({ control_id: id, seen: found })
  if (found.length === 0) return console.error('Nobody has obeyed it yet.')
  printTable(
    [{ title: 'AGENT' }, { title: 'SINCE' }],
    found.map((each) => [each.agent_id, each.seen_at]),
  )
}
