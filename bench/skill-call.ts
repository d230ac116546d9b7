/** What the runner adds to a skill that does nothing, against calling its function. */
import { defineSkill, Type } from '@chimera/skill/define'
import { createRunner, type Runner } from '@chimera/skill/runner'
import type { Benchmark } from './frame.ts'

const MOST_MICROS = 60
const CALLS = 5_000

const run = async (): Promise<Record<string, never>> => ({})
const empty = defineSkill({
  name: 'nothing',
  version: '1.0',
  input: Type.Object({}),
  output: Type.Object({}),
  timeout: '5s',
  run,
})
let runner: Runner | undefined

async function byRunner(): Promise<void> {
  runner ??= createRunner({ skills: [empty], agent: 'bench' })
  const outcome = await runner.run('nothing', {})
  if (!outcome.ok) throw new Error(outcome.error.message)
}

/** Time on a core, of all threads: that of others on the machine does not count. */
async function microsOf(call: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  for (let at = 0; at < CALLS; at += 1) await call()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / CALLS
}

export const benchmark: Benchmark = {
  name: 'skill-call',
  method:
    `${CALLS} calls of an empty skill through the runner, one after the other, less as many of ` +
    'its function: input and output validated, time limited, cancellation, the record with its ' +
    'hashes and the metrics. The figure is time on a core for one call, of all threads.',
  unit: 'µs',
  close: async () => runner?.close(),
  ours: {
    name: 'what a call costs more',
    read: async () => (await microsOf(byRunner)) - (await microsOf(run)),
  },
  peer: { name: 'what is asked for', figure: MOST_MICROS },
  target: { direction: 'at most', ratio: 1 },
}
