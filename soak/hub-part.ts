/** The hub of a soak, in a process of its own: on its defaults, but for where it is and keeps. */

import type { MoneyFact } from '@chimera/domain/money/ledger'
import { readBooks } from '@chimera/harness/books'
import { createChance } from '@chimera/host/chance'
import { createClock } from '@chimera/host/clock'
import { createLog } from '@chimera/host/log'
import { defaultsOf, type Values } from '@chimera/host/settings/declare'
import { createStop } from '@chimera/host/stop'
import { HUB_SETTINGS } from '@chimera/hub/settings'
import { type RunningHub, startHub } from '@chimera/hub/start'
import { serve } from './part.ts'
import { type Hire, tallyHires } from './tally.ts'

export type HubWanted = Pick<Values<typeof HUB_SETTINGS>, 'data' | 'database' | 'bus'>
export type HubFound = { readonly address: string; readonly operator: string }
export type Trail = { readonly facts: number; readonly hires: readonly Hire[] }

const clock = createClock()
const stop = createStop({ clock })
let running: RunningHub | undefined

async function start(wanted: HubWanted): Promise<HubFound> {
  const settings = {
    ...defaultsOf(HUB_SETTINGS),
    listen: { host: '127.0.0.1', port: 0 },
    auth: 'required',
    // One owner and one address, as fast as they are answered.
    requestsPerMinute: 0,
    strangersPerMinute: 0,
    logLevel: 'error',
    ...wanted,
  } satisfies Values<typeof HUB_SETTINGS>
  const log = createLog({
    clock,
    name: 'hub',
    level: settings.logLevel,
    destination: process.stderr,
  })
  running = await startHub({ settings, clock, chance: createChance(), log, stop })
  const { address, firstOperatorToken: operator = '' } = running
  return { address, operator }
}

/** Throws where the chain is broken, or a balance does not follow from it. */
async function examine(): Promise<Trail> {
  if (running === undefined) throw new Error('it has not started')
  const { hub } = running
  const { facts } = await readBooks(hub, [])
  const hires = tallyHires(await moneyFacts(hub.keep.trail))
  return { facts, hires: [...hires.values()] }
}

async function moneyFacts(trail: RunningHub['hub']['keep']['trail']): Promise<MoneyFact[]> {
  const found: MoneyFact[] = []
  for (let seq = 0; ; ) {
    const rows = await trail.sealedAfter(seq)
    if (rows.length === 0) return found
    for (const { fact } of rows) if (isMoney(fact)) found.push(fact)
    seq += rows.length
  }
}

const isMoney = (fact: unknown): fact is MoneyFact => 'postings' in Object(fact)

/** how many answers of our own did not fit their schema. */
async function refused(): Promise<number> {
  const page = (await running?.metrics.text()) ?? ''
  const lines = page.match(/^outgoing_refused_total\{.*$/gm) ?? []
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

serve({ start, examine, refused }, () => stop.stop('the soak is over'))
