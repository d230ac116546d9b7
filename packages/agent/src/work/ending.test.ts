/** How a run ends, row by row, and what that makes of its work. */
import assert from 'node:assert/strict'
import { secretFinder } from '@chimera/dialects/outgoing'
import type { CallError, CallOutcome } from '@chimera/skill/calls'
import { describe, test } from 'vitest'
import { endingOf, type Run } from './ending.ts'

const about = { call: 'c', skill: 's', durationMs: 7, retries: 0, from: 'run' } as const
const record = { skill: 's', agent: 'a', at: 0, input: 'd', durationMs: 7, retries: 0 }
const done = (output: unknown) => ({ ok: true, output, ...about, record }) as unknown as CallOutcome
const failed = (error: Partial<CallError>) =>
  ({
    ok: false,
    error: { code: 'X', message: 'Words.', retryable: false, why: 'declared', ...error },
    ...about,
    record,
  }) as unknown as CallOutcome

describe('a run that ends', () => {
  const rows: readonly {
    readonly how: string
    readonly outcome: CallOutcome
    readonly run?: Partial<Run>
    readonly command: string
    readonly fault?: string
    readonly lasting?: string
  }[] = [
    { how: 'with an object is done', outcome: done({ words: 1 }), command: 'finish' },
    {
      how: 'with anything else has failed',
      outcome: done(7),
      command: 'fail',
      fault: 'INTERNAL_ERROR',
    },
    {
      how: 'X-5 with a secret has failed',
      outcome: done({ note: 'Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl' }),
      command: 'fail',
      fault: 'OUTPUT_SECRET',
    },
    {
      how: 'with an error that may pass has failed for now',
      outcome: failed({ code: 'BUSY_SIGNAL', retryable: true }),
      command: 'fail',
      fault: 'BUSY_SIGNAL',
      lasting: 'transient',
    },
    {
      how: 'with an error that stays has failed for good',
      outcome: failed({ code: 'TOO_SHORT' }),
      command: 'fail',
      fault: 'TOO_SHORT',
      lasting: 'permanent',
    },
    {
      how: 'P-3 without anybody knowing how is unknown',
      outcome: failed({ why: 'outcome_unknown' }),
      command: 'lose',
    },
    {
      how: 'OC-17 at its deadline is ended by that',
      outcome: failed({ why: 'deadline' }),
      run: { ask: { deadline: 10 } },
      command: 'pass_time',
    },
    {
      how: 'because the agent stops may be asked for again',
      outcome: failed({ why: 'cancelled' }),
      run: { stopped: true },
      command: 'fail',
      fault: 'AGENT_STOPPED',
      lasting: 'transient',
    },
  ]
  for (const { how, outcome, run, command, fault, lasting } of rows) {
    test(how, () => {
      const usual = { ask: {}, endedAt: 10, stopped: false, findSecrets: secretFinder() }
      const ending = endingOf(outcome, { ...usual, ...run })
      assert.equal(ending.command.type, command)
      if (ending.command.type !== 'fail') return
      assert.equal(ending.command.fault.code, fault)
      if (lasting !== undefined) assert.equal(ending.command.fault.lasting, lasting)
      assert.doesNotMatch(ending.command.fault.message, /Bearer/)
    })
  }
})
