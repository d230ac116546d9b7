/** An event of the live feed in one line of words: who first, then what; the rest is in --json. */
import { checker } from '@chimera/dialects/check'
import { LiveEvent } from '@chimera/dialects/chimera'
import { centsOf } from '@chimera/dialects/wire'
import type { Heard } from '../event-lines.ts'
import { writeCredits } from '../show.ts'

const check = checker(LiveEvent)
export type Told = Extract<ReturnType<typeof check>, { readonly ok: true }>['message']

/** What it says; undefined for one of a version that is not known here. */
export function toldBy({ data }: Heard): Told | undefined {
  const checked = check(JSON.parse(data))
  return checked.ok ? checked.message : undefined
}

// As they stand in the escape sequences of a terminal.
export const COLOURS: Readonly<Record<string, number>> = {
  presence: 36,
  work: 33,
  ledger: 32,
  trust: 35,
  audit: 90,
}

/** `nameOf` turns an id into a name, where one is known. */
export function detailsOf(told: Told, nameOf: (agent: string) => string = (id) => id): string {
  const { agent_id, owner_id, payer, payee, amount, price, task_id, state, because, how } = told
  const { change, alias, slots, slots_free, slots_total, seq } = told
  const words = [
    agent_id === undefined ? undefined : nameOf(agent_id),
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
