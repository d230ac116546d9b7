/** A piece of work as a row: the columns it is found by, made from what it says. */

import type { Instant, TaskId, WorkId } from '@chimera/domain/ids'
import {
  hasLostLetter,
  isOpenAgain,
  isOver,
  isUnbegun,
  isUnfinished,
  type KeptWork,
} from '@chimera/domain/work/kept'
import { arrayText } from '../columns.ts'

/**
 * `slot`, `person`: it waits for one, and nobody is at it. `begun`: somebody is, or was when it
 * died. `telling`: it has ended, and somebody has still to hear so.
 */
export type Stage = 'slot' | 'person' | 'begun' | 'telling' | 'over'

export function stageOf(kept: KeptWork): Stage {
  const { state } = kept.work
  if (!isUnfinished(kept)) return 'over'
  if (isOver(state)) return 'telling'
  if (!isUnbegun(state)) return 'begun'
  return state.name === 'awaiting' ? 'person' : 'slot'
}

/** As statements return it. */
export type WorkRow = {
  readonly work: WorkId
  readonly turn: number
  readonly cancel_wished: boolean
  readonly kept: string
}

export const keptOfRow = ({ kept }: Pick<WorkRow, 'kept'>): KeptWork => JSON.parse(kept)

/** One write, in whose hands. */
export type Written = {
  readonly agent: string
  readonly holder: string
  readonly kept: KeptWork
  readonly turn: number
  readonly now: Instant
}

type Column = (write: Written) => string | number | null

const flag = (is: boolean): number => (is ? 1 : 0)

/** In this order in both statements. */
// biome-ignore format: a table is read by its columns
const COLUMNS = [
  ['agent',      'text',   ({ agent }) => agent],
  ['scope',      'text',   ({ kept }) => kept.scope],
  ['work',       'text',   ({ kept }) => kept.work.ask.work],
  ['task',       'text',   ({ kept }): TaskId => kept.work.ask.task],
  ['requester',  'text',   ({ kept }) => kept.requester.name],
  ['asked_at',   'bigint', ({ kept }) => kept.work.ask.askedAt],
  ['stage',      'text',   ({ kept }) => stageOf(kept)],
  ['again',      'int',    ({ kept }) => flag(isOpenAgain(kept))],
  ['lost',       'int',    ({ kept }) => flag(hasLostLetter(kept))],
  ['changed_at', 'bigint', ({ now }) => now],
  ['forget_at',  'bigint', ({ kept }) => kept.forgetAt ?? null],
  ['holder',     'text',   ({ holder, kept }) => (stageOf(kept) === 'over' ? null : holder)],
  ['turn',       'bigint', ({ turn }) => turn],
  ['kept',       'text',   ({ kept }) => JSON.stringify(kept)],
] as const satisfies readonly (readonly [name: string, type: string, of: Column])[]

const NAMES = COLUMNS.map(([name]) => name).join(', ')
const ROWS = `unnest(${COLUMNS.map(([, type], at) => `$${at + 1}::${type}[]`).join(', ')})
  AS new (${NAMES})`

/** Over what is forgotten, and what the same ask may take the place of; nothing else. */
export const ENTER = `
  INSERT INTO agent_work AS old (${NAMES}, cancel_wished)
  SELECT agent, scope, work, task, requester, asked_at, stage, again = 1, lost = 1, changed_at,
    forget_at, holder, turn, kept, false
  FROM ${ROWS}
  ON CONFLICT (agent, scope) DO UPDATE SET
    work = excluded.work, task = excluded.task, requester = excluded.requester,
    asked_at = excluded.asked_at, stage = excluded.stage, again = excluded.again,
    lost = excluded.lost, changed_at = excluded.changed_at, forget_at = excluded.forget_at,
    holder = excluded.holder, turn = excluded.turn, kept = excluded.kept, cancel_wished = false
  WHERE old.again OR old.forget_at <= excluded.changed_at
  RETURNING work`

/** Only what is still in the same hands: whoever takes it over counts its turn up. */
export const SAVE = `
  UPDATE agent_work AS old SET
    stage = new.stage, again = new.again = 1, lost = new.lost = 1, changed_at = new.changed_at,
    forget_at = new.forget_at, holder = new.holder, kept = new.kept
  FROM ${ROWS}
  WHERE old.agent = new.agent AND old.scope = new.scope AND old.work = new.work
    AND old.turn = new.turn
  RETURNING old.work`

export function paramsOf(writes: readonly Written[]): readonly string[] {
  // In one order in every process, so that no two wait for each other.
  const ordered = writes.toSorted((one, other) => (one.kept.scope < other.kept.scope ? -1 : 1))
  return COLUMNS.map(([, , of]) => arrayText(ordered.map((each) => of(each))))
}
