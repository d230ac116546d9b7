/**
 * Work from the ask to its end: taken on, queued, run, cancelled, reported. It is one instance's
 * own; what must outlive it is in the keep.
 *
 *   W1  A piece of work is changed here and nowhere else, one step after the other, and each step
 *       is kept before anybody is told of it.
 *   W2  A slot is free again when the run behind it has really ended, not when it was told to.
 *   W3  Whatever has not ended when the process comes back goes on: what waited waits, what was
 *       accepted runs, and a skill that must not run twice says itself whether it had (P-3).
 *   W4  What another instance has taken over is stopped here, and nobody is told of it from here.
 */
import { secretFinder } from '@chimera/dialects/outgoing'
import { type Refused, refuse } from '@chimera/domain/decision'
import { clearWords } from '@chimera/domain/disclosure'
import type { Instant, TaskId, WorkId } from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'
import { queuedOf } from '@chimera/domain/work/admission'
import { expectedStart } from '@chimera/domain/work/queue'
import { endOf, nextDueAt, type WorkCommand } from '@chimera/domain/work/work'
import { createBurst } from '@chimera/host/burst'
import type { GuardedClient } from '@chimera/host/guarded/client'
import type { CallOptions, Looked } from '@chimera/skill/calls'
import type { SubHiring } from '@chimera/skill/contract'
import type { Runner } from '@chimera/skill/runner'
import { isPromise, type Soon } from '@chimera/skill/soon'
import type { Within } from '../hire/within.ts'
import type { Voices } from '../ports.ts'
import { type Answered, type AskedWork, type AskHands, createAsking } from './asking.ts'
import { termsOf, unpaid } from './climbing.ts'
import { endingOf } from './ending.ts'
import { isOver, type Keep, type KeptWork, type Taken } from './keep.ts'
import { createPost, type Post } from './letters.ts'
import { createLives, type Live } from './live.ts'
import { type Particulars, stepWork } from './moving.ts'
import { createProgresses, type Progresses } from './progress.ts'
import { createSharing } from './sharing.ts'
import { signedResult } from './signed.ts'
import { createSteering, type Moved, type Steering } from './steering.ts'
import { createWaiting } from './waiting.ts'

export type WorkshopHands = AskHands & {
  /** How the skill that runs hires others (P-9). */
  readonly hireFor?: (work: Within) => SubHiring
  readonly runner: Runner
  readonly dial: GuardedClient
  readonly voices: Voices
}

export type Workshop = Steering & {
  readonly ask: (asked: AskedWork) => Soon<Answered>
  readonly find: (id: WorkId) => Promise<KeptWork | undefined>
  readonly byTask: (task: TaskId, requester?: string) => Promise<KeptWork | undefined>
  /** The work when it has ended or was turned away, or as it is when the time is over. */
  readonly ended: (kept: KeptWork, ms: number) => Promise<KeptWork>
  readonly follow: Progresses['follow']
  /** What has not ended, what waits on a person, what could not be delivered. */
  readonly list: () => Promise<readonly KeptWork[]>
  /** What could not be delivered (P-8). */
  readonly lost: Keep['lost']
  /** Goes on with what an earlier process left. */
  readonly resume: () => Promise<void>
  /** The slots may have become more: whoever waits is looked at. */
  readonly pump: () => void
  /** Turns away what waits for a slot, and waits until the rest has ended and been told. */
  readonly drain: () => Promise<void>
  /** Stops what still runs. What is kept for later is left as it is. */
  readonly close: () => Promise<void>
}

const ANSWERED = { is: 'answer' } as const
const RESULTED = { is: 'result' } as const

// What nobody knows is asked again after a minute, then two, up to an hour.
const LOOK_AGAIN_MS = 60_000
const MOST_LOOK_AGAIN_MS = 60 * LOOK_AGAIN_MS

// How often the hub is told how far work has come; what is done sooner is not told of at all.
const ADVANCE_MS = 2_000

export function createWorkshop(hands: WorkshopHands): Workshop {
  const { self, network, runner, keep, desk, clock, chance, log, voices } = hands
  const { shared } = keep
  const lives = createLives({ keep, clock, log, onLost })
  const runs = new Map<WorkId, Promise<void>>()
  const progresses = createProgresses(clock.now)
  /** W1: an end that is on its way into the keep is not seen yet. */
  function here(id: WorkId): KeptWork | undefined {
    const one = lives.of(id)
    return one?.told || (one && !isOver(one.kept.work.state)) ? one.kept : undefined
  }
  const waiting = createWaiting({ keep, clock, progresses, here })
  const asking = createAsking(hands)
  const meanwhile = createBurst()
  const findSecrets = secretFinder()
  let changes = 0
  let draining = false
  let closing = false

  const post: Post = createPost({
    ...hands,
    find: (scope) => lives.under(scope)?.kept,
    settle: (scope, id, letter) => {
      const one = lives.under(scope)
      if (one === undefined) return undefined
      const others = one.kept.letters.filter((each) => each.id !== id)
      if (letter !== undefined) others.push(letter)
      return lives.save(one, { ...one.kept, letters: others })
    },
  })

  /** At once, and once more after all that happens in the same moment. */
  function tell(): void {
    changes += 1
    if (changes > 1) return
    voices.changed(desk.workload(clock.now()))
    setImmediate(() => {
      const isLater = changes > 1
      changes = 0
      if (isLater) tell()
    })
  }

  function queue({ kept: { work, durationMs } }: Live, since: Instant): void {
    desk.queue(queuedOf(work.ask, durationMs, since))
  }

  function put(kept: KeptWork): Live {
    const one = lives.put(kept)
    watch(one)
    return one
  }

  /** W4. Its slot is free when its run has ended. */
  function onLost({ kept }: Live): void {
    const { work } = kept.work.ask
    desk.unqueue(work)
    desk.awaiting(work, false)
    tell()
  }

  /** Goes on with what an earlier process or another instance left. */
  function adopt(all: readonly Taken[]): void {
    for (const { kept, cancel } of all) {
      const { ask, state } = kept.work
      const one = put(kept)
      if (cancel) void move(one, { type: 'cancel', by: ask.requester })
      else if (state.name === 'awaiting') desk.awaiting(ask.work, true)
      else if (!isOver(state)) queue(one, ask.askedAt)
      post.send(kept)
    }
    if (all.length === 0) return
    pump()
    tell()
  }

  const sharing =
    shared &&
    createSharing({
      shared,
      clock,
      log,
      // One that drains is no help to those that have died.
      room: () => (draining ? undefined : hands.accepting() ? desk.idle(clock.now()) : 0),
      knows: (id) => lives.of(id) !== undefined,
      adopt,
      lose: (id) => lives.lose(lives.of(id)),
      cancel: (id) => {
        const one = lives.of(id)
        if (one !== undefined) void move(one, { type: 'cancel', by: one.kept.work.ask.requester })
      },
    })

  const steering = createSteering({
    keep,
    clock,
    lives,
    put,
    move,
    moved: pump,
    approved: (one) => {
      desk.awaiting(one.kept.work.ask.work, false)
      queue(one, clock.now())
      pump()
      tell()
    },
    send: post.send,
  })

  function move(one: Live, command: WorkCommand, particulars: Particulars = {}): Soon<Moved> {
    if (one.gone) return refuse('work_not_begun')
    const stepping = { agent: self.agent, now: clock.now(), uuid: chance.uuid }
    const { decision, kept, moved } = stepWork(one.kept, command, particulars, stepping)
    if (!moved) return decision
    if (isOver(kept.work.state)) {
      const { work } = kept.work.ask
      desk.unqueue(work)
      desk.awaiting(work, false)
      one.timer?.cancel()
      one.again?.cancel()
    }
    const follow = (): Moved => {
      tellOf(one, kept, command)
      return decision
    }
    // W1, but for the beginning of what may run again: after a crash it does, begun or not.
    const isLight = command.type === 'start' && !shared && !isOnce(hands, kept.skill)
    if (isLight) {
      one.kept = kept
      return follow()
    }
    const saved = lives.save(one, kept)
    if (!isPromise(saved)) return saved ? follow() : refuse('work_not_begun')
    if (isForHub(kept)) meanwhile(() => signEarly(kept))
    return saved.then((was) => (was ? follow() : refuse('work_not_begun')))
  }

  /** While the disk writes: nobody hears of it yet, but it is ready then. */
  function signEarly(kept: KeptWork): void {
    try {
      signedResult(self, kept)
    } catch {
      // It is said when it is told.
    }
  }

  /** W1: it is kept, and now whoever waits for it hears of it. */
  function tellOf(one: Live, kept: KeptWork, { type }: WorkCommand): void {
    const { state, ask } = kept.work
    const over = isOver(state)
    if (!over) watch(one)
    if (over || type === 'admit') {
      progresses.tell(ask.work, endOf(state) === undefined ? ANSWERED : RESULTED)
      tell()
    }
    if (over) {
      one.told = true
      waiting.over(kept)
      one.stop.leave(state.name)
    }
    // P-1: what will not be done gives its credits back at once; if nobody hears it, they lapse.
    if (state.name === 'refused' && kept.hold !== undefined) void network.release(kept.hold)
    post.send(kept)
  }

  /** Wakes when time has something to say about it: its deadline, or the end of a deferral. */
  function watch(one: Live): void {
    const { work } = one.kept
    const due = nextDueAt(work) ?? Number.POSITIVE_INFINITY
    const at = work.state.name === 'deferred' ? Math.min(due, work.state.until) : due
    // What is begun is due when it was before.
    if (one.dueAt === at) return
    one.timer?.cancel()
    one.dueAt = at
    if (!Number.isFinite(at)) return
    one.timer = clock.after(at - clock.now(), () => {
      one.dueAt = undefined
      void wake(one)
    })
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
    if (hands.accepting()) draining = false
    for (let next = desk.next(clock.now()); next; next = desk.next(clock.now())) {
      desk.unqueue(next.work)
      const one = lives.of(next.work)
      if (one === undefined) continue
      const before = runs.get(next.work)
      if (before !== undefined) {
        // It was lost and came back while its run had not yet stopped: one after the other.
        void before.finally(() => {
          if (lives.of(next.work) !== one) return
          desk.queue(next)
          pump()
        })
        continue
      }
      const { requester, task, work } = one.kept.work.ask
      const until = clock.now() + one.kept.durationMs
      if (!desk.take({ requester, task, work, until }, clock.now())) return
      begin(one, async () => admit(one, until))
    }
  }

  function begin(one: Live, ready?: () => Promise<boolean>): void {
    tell()
    runs.set(one.kept.work.ask.work, carry(one, ready))
  }

  async function carry(one: Live, ready: (() => Promise<boolean>) | undefined): Promise<void> {
    try {
      if (ready === undefined || (await ready())) await run(one)
    } catch (error) {
      log.error({ err: error }, 'work failed outside of its skill')
    } finally {
      // W2.
      const { work } = one.kept.work.ask
      runs.delete(work)
      desk.free(work)
      tell()
      pump()
    }
  }

  async function run(one: Live): Promise<void> {
    const { ask, state } = one.kept.work
    if (state.name !== 'unknown') {
      const started = move(one, { type: 'start' })
      if (!(isPromise(started) ? await started : started).ok) return
    }
    if (one.stop.hasLeft()) return
    const outcome = await runner.run(one.kept.skill, one.kept.input, callOf(one))
    // What is kept beyond the stop goes on at the next start.
    if (one.gone || (closing && keep.durable && !outcome.ok)) return
    const ended = { ask, endedAt: clock.now(), stopped: closing, findSecrets }
    const { command, particulars } = endingOf(outcome, ended)
    const moved = move(one, command, particulars)
    if (isPromise(moved)) await moved
    if (command.type === 'lose' && !outcome.ok) lookAgain(one, outcome.error.retryAfterMs)
  }

  function callOf(one: Live): CallOptions {
    const { ask } = one.kept.work
    let toldAt = clock.now()
    const call: Writable<CallOptions> = {
      caller: ask.requester,
      leaving: one.stop,
      correlation: ask.correlation,
      onProgress: ({ share, note: said, awaiting }) => {
        if (awaiting !== undefined) {
          desk.awaiting(ask.work, awaiting)
          tell()
        }
        const note = said === undefined ? {} : { note: clearWords(said) }
        progresses.tell(ask.work, { is: 'progress', share, ...note })
        if (clock.now() - toldAt < ADVANCE_MS) return
        toldAt = clock.now()
        void network.advance?.(ask.task, { share, ...note })
      },
    }
    if (one.looked !== undefined) call.looked = one.looked
    // The keep knows a repeat already; only what must never run twice needs the runner's memory.
    if (isOnce(hands, one.kept.skill)) call.key = ask.work
    if (ask.deadline !== undefined) call.deadline = ask.deadline
    const { hireFor } = hands
    if (hireFor !== undefined) call.hire = hiringOf(() => hireFor(withinOf(one)))
    return call
  }

  /** P-3: what nobody knows is looked up until somebody does, or its time is over. */
  function lookAgain(one: Live, waitMs = LOOK_AGAIN_MS * 2 ** one.looks): void {
    if (one.gone || closing || one.kept.work.state.name !== 'unknown') return
    one.looks += 1
    one.again = clock.after(Math.min(waitMs, MOST_LOOK_AGAIN_MS), () => {
      queue(one, clock.now())
      pump()
    })
  }

  function take(kept: KeptWork, looked: Looked | undefined): () => void {
    const one = put(kept)
    progresses.tell(kept.work.ask.work, ANSWERED)
    if (kept.work.state.name === 'accepted') {
      one.looked = looked
      begin(one)
    } else tell()
    return () => lives.lose(one, 'it could not be kept, and is stopped')
  }

  async function drain(): Promise<void> {
    draining = true
    const unused = desk.drain()
    await Promise.all(unused.map((each) => network.release(each.hold ?? each.id, each)))
    const refused: Refused<Refusal> = refuse('draining')
    await Promise.all(
      lives
        .all()
        .filter(({ kept }) => kept.work.state.name === 'deferred')
        .map(async (one) => move(one, { type: 'turn_away', refusal: 'draining' }, { refused })),
    )
    while (runs.size > 0) await Promise.allSettled(runs.values())
    await post.idle()
  }

  return {
    ask: (asked) => asking(asked, take),
    // Where others may have it by now, what is kept is what counts.
    find: async (id) => (shared ? keep.byWork(id) : (here(id) ?? keep.byWork(id))),
    byTask: async (task, requester) => keep.byTask(task, requester),
    cancel: steering.cancel,
    approve: steering.approve,
    ended: waiting.ended,
    follow: waiting.follow,
    async list() {
      const all = [...(await keep.unfinished()), ...(await keep.lost())]
      return [...new Map(all.map((each) => [each.work.ask.work, each])).values()]
    },
    lost: keep.lost,
    resend: steering.resend,
    async resume() {
      if (sharing !== undefined) await sharing.start()
      else adopt((await keep.unfinished()).map((kept) => ({ kept, cancel: false })))
      tell()
    },
    pump,
    drain,
    async close() {
      closing = true
      await sharing?.stop()
      await runner.close()
      while (runs.size > 0) await Promise.allSettled(runs.values())
      await post.idle()
      await post.close()
      await lives.close()
      await shared?.leave()
    },
  }
}

type Writable<Options> = { -readonly [Name in keyof Options]: Options[Name] }

/** Made for the first who hires: most hire nobody. */
function hiringOf(make: () => SubHiring): SubHiring {
  let made: SubHiring | undefined
  return (asked) => {
    made ??= make()
    return made(asked)
  }
}

const withinOf = ({ kept: { work, hold }, stop }: Pick<Live, 'kept' | 'stop'>): Within => ({
  work: work.ask.work,
  correlation: work.ask.correlation,
  over: stop.signal(),
  ...(hold !== undefined && work.priceCents > 0 && { hold }),
})

const isForHub = ({ report, letters }: KeptWork): boolean =>
  report !== undefined && letters.some(({ to }) => to === 'hub')

function isOnce({ skills }: WorkshopHands, id: string): boolean {
  return skills.some((each) => each.id === id && each.idempotency.once)
}
