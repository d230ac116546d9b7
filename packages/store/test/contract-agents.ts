/**
 * The work of agents in the database, where it is about the database: answers that are lost on the
 * way, what is cleared away, and backups. What every keep must do is proved where the port is, in
 * the agent's own tests.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type {
  AgentId,
  CorrelationId,
  Digest,
  IdempotencyKey,
  Instant,
  TaskId,
  WorkId,
} from '@chimera/domain/ids'
import type { KeptWork } from '@chimera/domain/work/kept'
import { describe, test } from 'vitest'
import { createKeep } from '../src/agents/keep.ts'
import { createWriting, type Writing } from '../src/agents/writing.ts'
import { backup, restore } from '../src/backup.ts'
import type { Database } from '../src/engine/database.ts'
import { Failure } from '../src/failure.ts'
import type { Stage } from './contract.ts'
import { createHands, START } from './hands.ts'

const LEASE_MS = 1_000
const knows = () => true

function keptAs(work: string, forgetAt?: Instant): KeptWork {
  const ask = {
    work: work as WorkId,
    task: `task of ${work}` as TaskId,
    requester: 'ann',
    agent: 'agent' as AgentId,
    skill: 'count',
    key: 'key' as IdempotencyKey,
    content: 'content' as Digest,
    correlation: 'correlation' as CorrelationId,
    priority: 5,
    askedAt: START,
  }
  const state =
    forgetAt === undefined
      ? ({ name: 'accepted', acceptedAt: START } as const)
      : ({ name: 'cancelled', endedAt: START, cause: 'requester' } as const)
  return {
    scope: `scope of ${work}`,
    door: 'openclaw',
    requester: { name: 'ann', proof: 'open' },
    work: { ask, priceCents: 0, state },
    input: { text: 'a\u0000"\\' },
    skill: 'count@v1.0',
    durationMs: 1,
    letters: [],
    ...(forgetAt !== undefined && { forgetAt }),
  }
}

function open(database: Database, agent: string, losing?: (writing: Writing) => Writing) {
  const { clock, chance } = createHands()
  const writing = createWriting(database, { sleep: clock.sleep, fraction: chance.fraction })
  return createKeep({
    database,
    writing: losing?.(writing) ?? writing,
    agent,
    holder: randomUUID(),
    now: clock.now,
    leaseMs: LEASE_MS,
    purge: async () => undefined,
  })
}

export function agentsContract({ fresh, empty }: Stage): void {
  describe('the work of agents', () => {
    test('P-3 what was written though nobody heard so goes to whoever looks', async () => {
      const { database } = await fresh()
      const lost = new Failure('outcome_unknown', 'cut')
      const one = open(database, 'a', (writing) => async (item) => {
        await writing(item)
        throw lost
      })
      const other = open(database, 'a')
      await Promise.all([one.shared.renew(knows), other.shared.renew(knows)])
      await assert.rejects(one.enter(keptAs('w')), lost)
      await one.shared.renew(() => false)
      assert.deepEqual(await other.shared.takeOver(0), [], 'it may be on its way')
      await one.shared.renew(() => false)
      const taken = await other.shared.takeOver(0)
      assert.deepEqual(
        taken.map(({ kept }) => kept.work.ask.work),
        ['w'],
      )
    })

    test('P-4 a write that is made again changes nothing that it had changed', async () => {
      const { database } = await fresh()
      const twice = open(database, 'a', (writing) => async (item) => {
        await writing(item)
        return writing(item)
      })
      assert.equal(await twice.enter(keptAs('w')), undefined)
      assert.equal(await twice.save({ ...keptAs('w'), durationMs: 7 }), 'saved')
      assert.equal(await twice.save(keptAs('w', START + 9)), 'saved', 'also of the last')
      assert.deepEqual(await twice.unfinished(), [])
    })

    test('P-10 it is in a backup, with every character', async () => {
      const { database } = await fresh()
      await open(database, 'a').enter(keptAs('w'))
      const lines: string[] = []
      await backup(database, (line) => void lines.push(line))
      const copy = await empty()
      await restore(copy, lines, { now: START })
      const after = open(copy, 'a')
      const [taken] = await after.shared.takeOver(0)
      assert.deepEqual(taken?.kept, keptAs('w'))
    })
  })
}
