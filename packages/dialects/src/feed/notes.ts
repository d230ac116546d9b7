/**
 * The notes of the status feed: what we write there, and what nobody may (SF-2).
 *
 *   N1  Our notes are fixed sentences with counts in them. No text of a task, a fault or a person
 *       can get into one, because none is handed in.
 *   N2  A note with a secret, an inside address, a path, a trace or personal data is refused,
 *       coming in and going out.
 */
import {
  type ConditionName,
  type Standing,
  tasksOf,
  type Workload,
} from '@chimera/domain/agent/condition'
import type { Issue } from '@chimera/domain/decision'
import { findInside, findPeople, findSecrets, type LeakKind } from '@chimera/domain/disclosure'

const NOTES = {
  idle: (work) => `Ready: ${room(work)}.`,
  working: (work) => `Working on ${tasks(work.running)}; ${room(work)}.`,
  human_review: (work) =>
    `Waiting for a person on ${tasks(work.awaiting)}; working on ${tasks(work.running)}.`,
  paused: (work) => `Paused; ${tasks(tasksOf(work))} in flight.`,
  draining: (work) => `Draining; ${tasks(tasksOf(work))} in flight.`,
  maintenance: (work) => `In maintenance; ${tasks(tasksOf(work))} in flight.`,
  error: (work) => `Out of order; ${tasks(tasksOf(work))} in flight.`,
  stopped: () => 'Stopped.',
} as const satisfies Record<ConditionName, (work: Workload) => string>

export function encodeNote({ condition, workload }: Standing): string {
  return NOTES[condition.name](workload)
}

/** What was found in a note, by kind; the text itself is not repeated. */
export function findNoteIssues(notes: string): readonly Issue[] {
  const leaks = [...findSecrets(notes), ...findInside(notes), ...findPeople(notes)]
  const kinds = new Set(leaks.map(({ kind }) => kind))
  return [...kinds].map((kind) => ({
    path: '/notes',
    expected: 'nothing of the inside, no secret and no personal data',
    got: KINDS[kind],
  }))
}

const KINDS: Record<LeakKind, string> = {
  secret: 'something that looks like a credential',
  host: 'an inside address',
  path: 'a file path',
  trace: 'a stack trace',
  person: 'personal data',
}

const tasks = (count: number): string => `${count} ${count === 1 ? 'task' : 'tasks'}`
const room = ({ slotsFree, slotsTotal }: Workload): string =>
  `${slotsFree} of ${slotsTotal} ${slotsTotal === 1 ? 'slot' : 'slots'} free`
