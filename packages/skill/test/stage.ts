/**
 * A runner on a virtual clock, with everything that it says written down, and skills that do as a
 * test tells them.
 */
import { createSeededChance } from '@chimera/host/chance'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import type { CallRecord, RunnerEvent } from '../src/calls.ts'
import { defineSkill, type SkillOptions, Type } from '../src/define.ts'
import { createRunner, type RunnerOptions } from '../src/runner.ts'
import type { LogLine } from '../src/trying.ts'

export type Waited<Answer> = { readonly answer: Answer; readonly tookMs: number }

export function createStage(options: Partial<RunnerOptions> & Pick<RunnerOptions, 'skills'>) {
  const clock = createVirtualClock()
  const records: CallRecord[] = []
  const events: RunnerEvent[] = []
  const lines: LogLine[] = []
  // No jitter, so that waits are the document's whole seconds.
  const chance = { ...createSeededChance(5), fraction: () => 0 }
  const runner = createRunner({
    clock,
    chance,
    record: (each) => records.push(each),
    watch: (each) => events.push(each),
    log: (each) => lines.push(each),
    ...options,
  })
  const startedAt = clock.now()

  return {
    runner,
    clock,
    chance,
    records,
    events,
    lines,
    startedAt,
    elapsed: () => clock.now() - startedAt,
    /** Lets time pass until the answer is there, and says how much did. */
    until: async <Answer>(pending: Promise<Answer>): Promise<Waited<Answer>> => {
      const from = clock.now()
      const state = { waiting: true }
      const answer = pending.finally(() => {
        state.waiting = false
      })
      await clock.advanceBy(0)
      while (state.waiting) {
        const [next] = clock.pending()
        if (next === undefined) throw new Error('nothing is left to wait for')
        await clock.advanceTo(next)
      }
      return { answer: await answer, tookMs: clock.now() - from }
    },
  }
}

export const Asked = Type.Object({ n: Type.Integer({ maximum: 1_000 }) })
export const Given = Type.Object({ n: Type.Integer() })

type Options = SkillOptions<typeof Asked, typeof Given, string>
type Run = Extract<Options, { run: unknown }>['run']

/** A skill of one number, with whatever a test wants to have otherwise. */
export const skillOf = (run: Run, more: Partial<Options> = {}) =>
  defineSkill<typeof Asked, typeof Given, string>({
    name: 'double',
    version: '1.0',
    input: Asked,
    output: Given,
    timeout: '5s',
    run,
    ...more,
  })

export type Step = Run | Error | { readonly n: number }

/** Each call takes the next step; the last one stays. Counts how often it was called. */
export function steps(...each: readonly Step[]) {
  let calls = 0
  const run: Run = (input, context) => {
    const step = each[Math.min(calls, each.length - 1)]
    calls += 1
    if (step instanceof Error) throw step
    return typeof step === 'function' ? step(input, context) : (step ?? { n: 0 })
  }
  return { run, calls: () => calls }
}

/** Ends only with its signal. */
export const hang: Run = (_, { signal }) =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })

/** Does not even end with that. */
export const ignore: Run = () => new Promise(() => undefined)
