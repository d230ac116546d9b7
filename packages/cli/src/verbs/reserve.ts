/**
 * `chimera reserve`: takes a slot at an agent, and a hold of the budget with it, before there is
 * anything to ask (AV-8). It lapses by itself.
 */
import { HireFailure } from '@chimera/agent/hire/failure'
import { isUuid, writeCents } from '@chimera/dialects/wire'
import { LIMITS } from '@chimera/domain/limits'
import { createClock } from '@chimera/host/clock'
import { optional, setting } from '@chimera/host/settings/declare'
import { duration, text, whole } from '@chimera/host/settings/kinds'
import { Command } from 'commander'
import { credits, readFlags } from '../flags.ts'
import { INPUT_ABOUT, readInput } from '../input.ts'
import { plain, printJson, printTable, writeCredits } from '../show.ts'
import { writeWhen } from '../span.ts'
import { FAILED, MISUSED, Trouble } from '../trouble.ts'
import { connectAs, HIRER, reasonsOf, withHirerFlags } from './hire.ts'

const ASKED = {
  ...HIRER,
  budget: setting(credits(), {
    fallback: 0,
    about: 'The most that the work may cost, in credits; so much is held. 0 unless given.',
  }),
  deadline: setting(duration({ least: 1, most: LIMITS.workMs }), {
    fallback: 60_000,
    about: 'By when the work has to be done, from now, such as 10m; 1m unless given.',
  }),
  slots: setting(whole({ least: 1, most: LIMITS.slotsPerInstance }), {
    fallback: 1,
    about: 'How many slots; 1 unless given.',
  }),
  input: optional(text({ least: 1, most: LIMITS.bodyBytes }), {
    about: `Ask for the work at once, and wait for it. ${INPUT_ABOUT}`,
  }),
} as const

export function reserveVerb(): Command {
  return withHirerFlags(new Command('reserve'))
    .description('Take a slot at an agent, with the credits for it, before asking for work')
    .argument('<skill>', 'The skill that is wanted; or the id of an agent, for a slot there')
    .option('--budget <credits>', ASKED.budget.about)
    .option('--deadline <time>', ASKED.deadline.about)
    .option('--slots <count>', ASKED.slots.about)
    .option('--input <json>', ASKED.input.about)
    .option('--json', 'Print the reservation, and the outcome where there is one.')
    .addHelpText(
      'after',
      `
Only an agent reserves: its key signs the offer. --as names the directory where it keeps that.

Examples:
  chimera reserve word_count --as .chimera/chimera-planner --budget 0.10
  chimera reserve word_count --as .chimera/chimera-planner --budget 0.10 --input '{"text":"a b"}'
  chimera reserve 7d0c3c0a-5b1e-4a52-9a53-6f1f0f6f7d11 --as .chimera/chimera-planner

A slot that nobody uses lapses within ${LIMITS.reservationMs / 1_000} s; before that
\`chimera work cancel <task>\` gives it back.
Exit status: 0 reserved, 1 the hub or the work said no, 2 wrong words, 3 nobody has a slot.`,
    )
    .action(run)
}

const NOBODY = 3

async function run(sought: string, { json = false, ...flags }: Options): Promise<void> {
  const asked = await readFlags(ASKED, flags)
  if (asked.as === undefined) {
    throw new Trouble(
      [
        '--as: expected the directory of the agent that reserves; came nothing.',
        'Only an agent reserves. `chimera hire` takes what there is without one.',
      ],
      MISUSED,
    )
  }
  const isAgent = isUuid(sought)
  if (isAgent && asked.input !== undefined) {
    throw new Trouble('--input: expected a skill to ask for; came the id of an agent.', MISUSED)
  }
  const input = asked.input === undefined ? undefined : await readInput(asked.input)
  const network = await connectAs(asked)
  try {
    const reserved = await network.reserve(isAgent ? '' : sought, {
      budget: writeCents(asked.budget),
      deadline: asked.deadline,
      slots: asked.slots,
      ...(isAgent && { agent: sought }),
    })
    const { task, agent, instance, reservation, lapsesAt, hold } = reserved
    const told = {
      reservation_id: reservation,
      task_id: task,
      agent_id: agent,
      instance_id: instance,
      lapses_at: new Date(lapsesAt).toISOString(),
      ...(hold !== undefined && { hold_id: hold }),
    }
    if (input !== undefined) {
      const { output, cost } = await (await reserved.ask(input)).result()
      if (json) return printJson({ ...told, output, cost })
      printJson(output)
      return console.error(plain(`Done by ${agent} for ${cost.toFixed(2)} credits. Task ${task}`))
    }
    if (json) return printJson(told)
    const when = writeWhen(lapsesAt, createClock().now())
    printTable(
      [{ title: 'TASK' }, { title: task }],
      [
        ['agent', agent],
        ['instance', instance],
        ['slots', asked.slots],
        ['held', asked.budget === 0 ? 'nothing' : writeCredits(asked.budget)],
        ['lapses', `${told.lapses_at} (${when})`],
      ],
    )
    console.error(`\`chimera work cancel ${task} --as ${asked.as}\` gives it back before.`)
  } catch (error) {
    if (error instanceof HireFailure) throw explained(error)
    throw error
  } finally {
    await network.close()
  }
}

type Options = Readonly<Record<string, unknown>> & { readonly json?: boolean }

function explained(failure: HireFailure): Trouble {
  const isNobody = failure.code === 'nobody_found' || failure.code === 'nobody_accepted'
  const lines =
    failure.code === 'nobody_found'
      ? ['Nobody who has a slot free offers that.', '`chimera discover <skill>` shows who does.']
      : [failure.message, ...reasonsOf(failure)]
  return new Trouble(lines.map(plain), isNobody ? NOBODY : FAILED)
}
