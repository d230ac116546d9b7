/**
 * Work from the ask to its end: taken on, queued, run, cancelled, reported. It is one instance's
 * own; what must outlive it is in the keep.
 *
 *   W1  A piece of work is changed here and nowhere else, one step after the other, and each step
 *       is kept before anybody is told of it.
 *   W2  A slot is free again when the run behind it has really ended, not when it was told to.
 *   W3  Whatever has not ended when the process comes back goes on: what waited waits, what was
 *       accepted runs, and a skill that must not run twice says itself whether it had (P-3).
 */
import { secretFinder } from '@chimera/dialects/outgoing'
import { accept, type Decision, type Refused, refuse } from '@chimera/domain/decision'
import type { Instant, TaskId, WorkId } from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'
import { queuedOf } from '@chimera/domain/work/admission'
import { expectedStart } from '@chimera/domain/work/queue'
import {
  decideWork,
  endOf,
  nextDueAt,
  type WorkCommand,
  type WorkFact,
  type WorkRefusal,
} from '@chimera/domain/work/work'
import type { Timer } from '@chimera/host/clock'
import type { GuardedClient } from '@chimera/host/guarded/client'
import type { Runner } from '@chimera/skill/runner'
import type { Voices } from '../ports.ts'
import {
  type Answered,
  type AskedWork,
  type AskHands,
  createAsking,
  termsOf,
  unpaid,
} from './asking.ts'
import { endingOf } from './ending.ts'
import { isUnfinished, type Keep, type KeptWork } from './keep.ts'
import { createPost, type Post } from './letters.ts'
import { type Particulars, stepWork } from './moving.ts'
import { createProgresses, type Progresses } from './progress.ts'

export type WorkshopHands = AskHands & {
  readonly runner: Runner
  readonly dial: GuardedClient
  readonly voices: Voices
}

export type Workshop = {
  readonly ask: (asked: AskedWork) => Promise<Answered>
  readonly find: (id: WorkId) => Promise<KeptWork | undefined>
  readonly byTask: (task: TaskId, requester?: string) => Promise<KeptWork | undefined>
  /** By the requester, of what has not ended (OC-18). */
  readonly cancel: (kept: KeptWork) => Promise<Decision<WorkFact, WorkRefusal>>
  /** A person agrees (OC-19). */
  readonly approve: (id: WorkId) => Promise<Decision<WorkFact, WorkRefusal | 'work_unknown'>>
  /** The work when it has ended or was turned away, or as it is when the time is over. */
  readonly ended: (kept: KeptWork, ms: number) => Promise<KeptWork>
  readonly follow: Progresses['follow']
  /** What has not ended, what waits on a person, what could not be delivered. */
  readonly list: () => Promise<readonly KeptWork[]>
  /** What could not be delivered (P-8). */
  readonly lost: Keep['lost']
  /** Tries again to deliver what of this work could not be. */
  readonly resend: (id: WorkId) => Promise<Decision<never, 'work_unknown'>>
  /** Goes on with what an earlier process left. */
  readonly resume: () => Promise<void>
  /** The slots may have become more: whoever waits is looked at. */
  readonly pump: () => void
  /** Turns away what waits for a slot, and waits until the rest has ended and been told. */
  readonly drain: () => Promise<void>
  /** Stops what still runs. What is kept for later is left as it is. */
  readonly close: () => Promise<void>
}

type Live = {
  kept: KeptWork
  readonly stop: AbortController
  timer: Timer | undefined
  saved: Promise<void>
  admitting: Promise<boolean> | undefined
}

export function createWorkshop(hands: WorkshopHands): Workshop {
  const { self, network, runner, keep, desk, clock, chance, log, voices } = hands
  const live = new Map<WorkId, Live>()
  const byScope = new Map<string, Live>()
  const runs = new Set<Promise<void>>()
  const enders = new Map<WorkId, Set<() => void>>()
  const progresses = createProgresses(clock.now)
  const asking = createAsking(hands)
  const findSecrets = secretFinder()
  let closing = false

  const post: Post = createPost({
    ...hands,
    find: (scope) => byScope.get(scope)?.kept,
    settle: async (scope, id, letter) => {
      const one = byScope.get(scope)
      if (one === undefined) return
      const letters = one.kept.letters.flatMap((each) =>
        each.id === id ? (letter === undefined ? [] : [letter]) : [each],
      )
      await save(one, { ...one.kept, letters })
    },
  })

  const tell = (): void => voices.changed(desk.workload(clock.now()))

  /** W1: saves follow each other, so that the last one kept is the last one made. */
  function save(one: Live, kept: KeptWork): Promise<void> {
    one.kept = kept
    one.saved = one.saved
      .then(() => keep.save(kept))
      .catch((error: unknown) => log.error({ err: error }, 'work could not be kept'))
    if (!isUnfinished(kept)) leave(one)
    return one.saved
  }

  function put(kept: KeptWork): Live {
    const one: Live = {
      kept,
      stop: new AbortController(),
      timer: undefined,
      saved: Promise.resolve(),
      admitting: undefined,
    }
    live.set(kept.work.ask.work, one)
    byScope.set(kept.scope, one)
    watch(one)
    return one
  }

  function leave(one: Live): void {
    one.timer?.cancel()
    live.delete(one.kept.work.ask.work)
    if (byScope.get(one.kept.scope) === one) byScope.delete(one.kept.scope)
  }

  async function move(
    one: Live,
    command: WorkCommand,
    particulars: Particulars = {},
  ): Promise<Decision<WorkFact, WorkRefusal>> {
    const stepping = { agent: self.agent, now: clock.now(), uuid: chance.uuid }
    const { decision, kept, moved } = stepWork(one.kept, command, particulars, stepping)
    if (!moved) return decision
    const { state, ask } = kept.work
    const isOver = endOf(state) !== undefined || state.name === 'refused'
    if (isOver) {
      desk.unqueue(ask.work)
      desk.awaiting(ask.work, false)
      one.timer?.cancel()
    }
    await save(one, kept)
    if (!isOver) watch(one)
    if (isOver || command.type === 'admit') {
      progresses.tell(ask.work, { is: endOf(state) === undefined ? 'answer' : 'result' })
      tell()
    }
    if (isOver) {
      for (const hear of enders.get(ask.work) ?? []) hear()
      one.stop.abort()
    }
    // P-1: what will not be done gives its credits back at once; if nobody hears it, they lapse.
    if (state.name === 'refused' && kept.hold !== undefined) void network.release(kept.hold)
    post.send(kept)
    return decision
  }

  /** Wakes when time has something to say about it: its deadline, or the end of a deferral. */
  function watch(one: Live): void {
    one.timer?.cancel()
    const { work } = one.kept
    const due = nextDueAt(work)
    const until = work.state.name === 'deferred' ? work.state.until : undefined
    const at = Math.min(due ?? Number.POSITIVE_INFINITY, until ?? Number.POSITIVE_INFINITY)
    if (!Number.isFinite(at)) return
    one.timer = clock.after(at - clock.now(), () => void wake(one))
  }

  async function wake(one: Live): Promise<void> {
    const decision = await move(one, { type: 'pass_time' })
    if (decision.ok && decision.facts.length > 0) return pump()
    if (one.kept.work.state.name === 'deferred') await answerDeferred(one)
  }

  /** OC-15: by the time that was named there is a final answer, slot or no slot. */
  async function answerDeferred(one: Live): Promise<void> {
    const { work, durationMs } = one.kept
    const now = clock.now()
    const entry = queuedOf(work.ask, durationMs, work.ask.askedAt)
    const endsAt = expectedStart(desk.room(now), entry, now) + durationMs
    if (work.ask.deadline !== undefined && endsAt > work.ask.deadline) {
      await move(one, { type: 'turn_away', refusal: 'deadline_too_soon' })
      return
    }
    await admit(one, endsAt)
  }

  /** Whether it is accepted now; asked several times, it is decided once. */
  function admit(one: Live, estimatedEnd: Instant): Promise<boolean> {
    one.admitting ??= (async () => {
      const { work, hold } = one.kept
      if (work.state.name !== 'deferred') return true
      const confirmed =
        hold === undefined
          ? ({ ok: true } as const)
          : await network.confirm(hold, termsOf(one.kept))
      if (!confirmed.ok) {
        const refused = unpaid(confirmed, work.priceCents)
        await move(one, { type: 'turn_away', refusal: refused.refusal }, { refused })
        return false
      }
      return (await move(one, { type: 'admit', estimatedEnd })).ok
    })()
    return one.admitting
  }

  function pump(): void {
    if (closing) return
    for (let next = desk.next(clock.now()); next; next = desk.next(clock.now())) {
      desk.unqueue(next.work)
      const one = live.get(next.work)
      if (one === undefined) continue
      const { requester, task, work } = one.kept.work.ask
      const until = clock.now() + one.kept.durationMs
      if (!desk.take({ requester, task, work, until }, clock.now())) return
      begin(one, async () => admit(one, until))
    }
  }

  function begin(one: Live, ready: () => Promise<boolean> = async () => true): void {
    const { work } = one.kept.work.ask
    tell()
    const running: Promise<void> = (async () => {
      if (await ready()) await run(one)
    })()
      .catch((error: unknown) => log.error({ err: error }, 'work failed outside of its skill'))
      .finally(() => {
        // W2.
        runs.delete(running)
        desk.free(work)
        tell()
        pump()
      })
    runs.add(running)
  }

  async function run(one: Live): Promise<void> {
    const { ask } = one.kept.work
    const started = await move(one, { type: 'start' })
    if (!started.ok || one.stop.signal.aborted) return
    const outcome = await runner.run(one.kept.skill, one.kept.input, {
      caller: ask.requester,
      // The keep knows a repeat already; only what must never run twice needs the runner's memory.
      ...(isOnce(hands, one.kept.skill) && { key: ask.work }),
      ...(ask.deadline !== undefined && { deadline: ask.deadline }),
      signal: one.stop.signal,
      correlation: ask.correlation,
      onProgress: ({ share, note }) =>
        progresses.tell(ask.work, { is: 'progress', share, ...(note !== undefined && { note }) }),
    })
    // What is kept beyond the stop goes on at the next start.
    if (closing && keep.durable && !outcome.ok) return
    const ended = { ask, endedAt: clock.now(), stopped: closing, findSecrets }
    const { command, particulars } = endingOf(outcome, ended)
    await move(one, command, particulars)
  }

  function take(kept: KeptWork): void {
    const one = put(kept)
    progresses.tell(kept.work.ask.work, { is: 'answer' })
    if (kept.work.state.name === 'accepted') begin(one)
    else tell()
  }

  function ended(kept: KeptWork, ms: number): Promise<KeptWork> {
    const { work } = kept.work.ask
    const now = (): KeptWork => live.get(work)?.kept ?? kept
    const isOver = ({ work: { state } }: KeptWork) =>
      endOf(state) !== undefined || state.name === 'refused'
    if (isOver(now())) return Promise.resolve(now())
    return new Promise((resolve) => {
      const hearers = enders.get(work) ?? new Set()
      enders.set(work, hearers)
      const finish = (): void => {
        timer.cancel()
        hearers.delete(finish)
        if (hearers.size === 0) enders.delete(work)
        // It may be kept and gone from here by now.
        void keep.byWork(work).then(
          (found) => resolve(found ?? now()),
          () => resolve(now()),
        )
      }
      const timer = clock.after(ms, finish)
      hearers.add(finish)
    })
  }

  async function drain(): Promise<void> {
    const unused = desk.drain()
    await Promise.all(unused.map(({ id, hold }) => network.release(hold ?? id)))
    const refused: Refused<Refusal> = refuse('draining')
    await Promise.all(
      [...live.values()]
        .filter(({ kept }) => kept.work.state.name === 'deferred')
        .map((one) => move(one, { type: 'turn_away', refusal: 'draining' }, { refused })),
    )
    while (runs.size > 0) await Promise.allSettled(runs)
    await post.idle()
  }

  return {
    ask: (asked) => asking(asked, take),
    find: async (id) => live.get(id)?.kept ?? keep.byWork(id),
    byTask: async (task, requester) => keep.byTask(task, requester),
    async cancel(kept) {
      const { work: id, requester: by } = kept.work.ask
      const one = live.get(id)
      const command = { type: 'cancel', by } as const
      if (one === undefined) {
        const known = (await keep.byWork(id)) ?? kept
        const decision = decideWork(known.work, command, clock.now())
        // What another instance has in hand is its to cancel.
        const isTheirs = decision.ok && decision.facts.length > 0
        return isTheirs ? refuse('work_not_begun') : decision
      }
      const decision = await move(one, command)
      if (decision.ok) pump()
      return decision
    },
    async approve(id) {
      const one = live.get(id)
      if (one?.kept.work.state.name !== 'awaiting') {
        const known = one ?? (await keep.byWork(id))
        return refuse(known === undefined ? 'work_unknown' : 'work_not_begun')
      }
      const now = clock.now()
      const { durationMs, work } = one.kept
      const decision = await move(one, { type: 'admit', estimatedEnd: now + durationMs })
      if (!decision.ok) return decision
      desk.awaiting(id, false)
      desk.queue(queuedOf(work.ask, durationMs, now))
      pump()
      tell()
      return decision
    },
    ended,
    follow: progresses.follow,
    async list() {
      const all = [...(await keep.unfinished()), ...(await keep.lost())]
      return [...new Map(all.map((each) => [each.work.ask.work, each])).values()]
    },
    lost: keep.lost,
    async resend(id) {
      const kept = live.get(id)?.kept ?? (await keep.byWork(id))
      if (kept === undefined) return refuse('work_unknown')
      const one = live.get(id) ?? put(kept)
      const letters = one.kept.letters.map(({ lost: _, ...each }) => ({ ...each, attempts: 0 }))
      await save(one, { ...one.kept, letters })
      post.send(one.kept)
      return accept()
    },
    async resume() {
      for (const kept of await keep.unfinished()) {
        const { work, durationMs } = kept
        const one = put(kept)
        const { name } = work.state
        if (name === 'awaiting') desk.awaiting(work.ask.work, true)
        else if (name === 'deferred' || name === 'accepted' || name === 'running') {
          desk.queue(queuedOf(work.ask, durationMs, work.ask.askedAt))
        }
        post.send(one.kept)
      }
      pump()
      tell()
    },
    pump,
    drain,
    async close() {
      closing = true
      await runner.close()
      while (runs.size > 0) await Promise.allSettled(runs)
      for (const one of live.values()) one.timer?.cancel()
      await post.idle()
      await post.close()
      await Promise.allSettled([...live.values()].map(({ saved }) => saved))
    },
  }
}

function isOnce({ skills }: WorkshopHands, id: string): boolean {
  return skills.some((each) => each.id === id && each.idempotency.once)
}
