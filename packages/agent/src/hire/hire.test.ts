/**
 * What a hire makes of silence, on either side and at any step. Agent and hub are scripts, and time
 * passes when somebody sleeps; the same against real ones is in test/hire.test.ts.
 */
import assert from 'node:assert/strict'
import type { HoldSeen, WorkSeen } from '@chimera/dialects/chimera'
import type {
  AgentId,
  CorrelationId,
  HoldId,
  IdempotencyKey,
  OwnerId,
  TaskId,
  WorkId,
} from '@chimera/domain/ids'
import { createSeededChance } from '@chimera/host/chance'
import type { Clock } from '@chimera/host/clock'
import { describe, test } from 'vitest'
import type { Books } from './books.ts'
import type { Answered, Door, Limits, Looked, Refusing } from './door.ts'
import type { Errand, Hands } from './errand.ts'
import { HireFailure } from './failure.ts'
import { type Hired, hire } from './hire.ts'
import { createTeller, type HireMoment } from './steps.ts'

const TASK = '4f8a1f3c-2f5e-4e58-8a37-0a3f6c1d9b22' as TaskId
const HOLD = '7c2d9e10-8b4a-4f6d-a1c3-5e7f9a0b1c33' as HoldId
const ONE = '0b6f2ab0-5f0e-4c1e-9f43-0c7a5b9d2e11' as AgentId
const TWO = '1b6f2ab0-5f0e-4c1e-9f43-0c7a5b9d2e11' as AgentId
const START = 1_000_000
const DEADLINE = START + 30_000

const SILENT: Answered = { kind: 'silent', code: 'timeout', detail: '' }
const ACCEPTED: Answered = { kind: 'accepted' }
const REFUSED: Refusing = {
  kind: 'refused',
  final: true,
  refusal: 'policy_violated',
  sentence: '',
  retryable: false,
}
const LATER: Answered = { kind: 'deferred', until: DEADLINE }
const FULL: Refusing = { ...REFUSED, refusal: 'queue_full', retryable: true, retryAfterMs: 4_000 }
const DONE: Extract<Looked, { kind: 'ended' }> = {
  kind: 'ended',
  message: {},
  report: {
    type: 'work_reported',
    task: TASK,
    agent: ONE,
    work: TASK as string as WorkId,
    correlation: TASK as string as CorrelationId,
    how: 'done',
    output: { words: 3 },
  },
}

type Script = {
  readonly price?: number
  readonly ask?: readonly Answered[]
  readonly look?: readonly Looked[]
  readonly cancel?: Looked
  readonly there?: boolean
  readonly withdraw?: 'free' | 'bound' | 'silent'
  readonly hold?: HoldSeen['stage'] | 'silent'
  readonly work?: WorkSeen
  readonly candidates?: readonly AgentId[]
  /** It was started again, and answers at this address alone. */
  readonly moved?: string
  /** No time passes while it is asked. */
  readonly quickly?: boolean
}

/** The last step of each script is repeated for as long as somebody asks. */
function stage(script: Script) {
  const {
    price = 5,
    candidates = [ONE],
    withdraw = 'free',
    hold = 'captured',
    there = true,
  } = script
  const asked: (Limits & { readonly agent: AgentId })[] = []
  const calls: string[] = []
  let now = START
  const clock: Clock = {
    now: () => now,
    after: () => ({ cancel: () => undefined }),
    sleep: async (ms) => {
      now += ms
    },
  }
  const stepping = <Step>(steps: readonly Step[], otherwise: Step) => {
    let at = 0
    return () => steps[Math.min(at++, steps.length - 1)] ?? otherwise
  }
  const silence = () => new HireFailure('hub_unanswered')
  const seen = (stage: HoldSeen['stage']): HoldSeen => ({
    id: HOLD,
    agent: ONE,
    payer: 'acme' as OwnerId,
    payee: 'them' as OwnerId,
    task: TASK,
    stage,
    amountCents: price,
    priceCents: price,
    costCents: stage === 'captured' ? price : 0,
  })
  const isGone = (endpoint: string) => script.moved !== undefined && script.moved !== endpoint
  const nextAnswer = stepping(script.ask ?? [ACCEPTED], ACCEPTED)
  const nextLook = stepping(script.look ?? [DONE], DONE)
  const books: Partial<Books> = {
    discover: async ({ order, offset = 0, limit }) => {
      calls.push(order)
      return candidates.slice(offset, offset + limit).map((id) => ({
        id,
        name: 'Counter',
        endpoint: 'https://counter.example',
        skill: { name: 'count', priceCents: price },
        scoreMicro: 0,
        online: true,
      }))
    },
    place: async () => ({ kind: 'placed', hold: seen('placed') }),
    withdraw: async () => {
      calls.push('withdraw')
      if (withdraw === 'silent') throw silence()
      return withdraw
    },
    hold: async () => {
      if (hold === 'silent') throw silence()
      return seen(hold)
    },
    work: async () => script.work,
    agent: async (id) => ({ id, name: 'Counter', ...(script.moved && { endpoint: script.moved }) }),
    isOpen: async () => true,
    settle: async () => void calls.push('settle'),
  }
  const door: Partial<Door> = {
    ask: async ({ id: agent, endpoint }, _, limits) => {
      asked.push({ ...limits, agent })
      if (!script.quickly) now += 1_000
      return isGone(endpoint) ? SILENT : nextAnswer()
    },
    look: async ({ endpoint }) => {
      now += 1_000
      return isGone(endpoint) ? SILENT : nextLook()
    },
    cancel: async () => {
      calls.push('cancel')
      return script.cancel ?? SILENT
    },
    isThere: async () => there,
    events: async () => 404,
  }
  const hands = {
    books: books as Books,
    door: door as Door,
    keysOf: async () => ({ periods: [] }),
    believe: () => true,
    clock,
    chance: createSeededChance(1),
  } satisfies Hands
  const errand: Errand = {
    terms: {
      task: TASK,
      named: false,
      budgetCents: 10,
      deadline: DEADLINE,
      reserves: true,
      correlation: TASK as string as CorrelationId,
    },
    asked: {
      type: 'ask_work',
      task: TASK,
      claimedRequester: ONE,
      skill: 'count',
      input: {},
      key: TASK as string as IdempotencyKey,
      correlation: TASK as string as CorrelationId,
      priority: 5,
    },
  }
  return { hands, errand, asked, calls, now: () => now }
}

async function outcomeOf({ hands, errand }: ReturnType<typeof stage>): Promise<string | Hired> {
  try {
    return await hire(hands, errand)
  } catch (error) {
    if (error instanceof HireFailure) return error.code
    throw error
  }
}

const TOLD: WorkSeen = {
  task: TASK,
  state: 'settled',
  agent: ONE,
  end: 'done',
  output: { words: 3 },
}
const FREE = { price: 0 }

describe('P-3: what comes of silence', () => {
  // biome-ignore format: a table is read by its columns
  const rows: [situation: string, script: Script, outcome: string][] = [
    ['agent silent, hold withdrawn: it is out',                { ask: [SILENT] },                                              'nobody_accepted'],
    ['agent silent, hub silent: nobody can say',               { ask: [SILENT], withdraw: 'silent' },                          'outcome_unknown'],
    ['agent refuses, hub silent: nothing is owed',             { ask: [REFUSED], withdraw: 'silent' },                         'hub_unanswered'],
    ['agent silent but bound: it is followed to its end',      { ask: [SILENT], withdraw: 'bound' },                           'done'],
    ['bound and silent, and the hub tells the end',            { ask: [SILENT], withdraw: 'bound', look: [SILENT], work: TOLD }, 'done'],
    ['bound, and nobody tells by the deadline',                { withdraw: 'bound', look: [SILENT] },                          'outcome_unknown'],
    ['accepted, too slow, called off',                         { look: [ACCEPTED], cancel: { ...DONE, report: { ...DONE.report, how: 'cancelled' } } }, 'deadline_passed'],
    ['accepted, too slow, done when it is called off',         { look: [ACCEPTED], cancel: DONE },                             'done'],
    ['accepted, then silent, but its hold can pay nobody',     { look: [SILENT] },                                             'deadline_passed'],
    ['deferred, and refused in the end',                       { ask: [{ kind: 'deferred', until: DEADLINE }], look: [REFUSED] }, 'nobody_accepted'],
    ['an error on the way is no answer about the work',        { look: [{ ...REFUSED, final: false }, DONE] },                 'done'],
    ['done, and the books silent: the output is handed on',    { hold: 'silent' },                                             'done'],
    ['free, and nobody there: not even asked',                 { ...FREE, there: false },                                      'nobody_accepted'],
    ['free, silent, then there: asked again, the same',        { ...FREE, ask: [SILENT, SILENT, ACCEPTED] },                   'done'],
    ['bound, started again elsewhere: found there',            { withdraw: 'bound', moved: 'https://new.example' },            'done'],
    ['free, started again elsewhere: asked and found there',   { ...FREE, moved: 'https://new.example' },                      'done'],
    ['free, and silent for good: nobody else is asked',        { ...FREE, ask: [SILENT], look: [SILENT], candidates: [ONE, TWO] }, 'outcome_unknown'],
  ]
  for (const [situation, script, outcome] of rows) {
    test(situation, async () => {
      const scene = stage(script)
      const came = await outcomeOf(scene)
      assert.equal(typeof came === 'string' ? came : 'done', outcome)
      if (typeof came !== 'string') assert.deepEqual(came.output, { words: 3 })
      if (outcome === 'outcome_unknown') {
        assert.deepEqual([...new Set(scene.asked.map(({ agent }) => agent))], [ONE])
      }
      if (script.there === false) assert.equal(scene.asked.length, 0)
    })
  }
})

test('P-14: newcomers get their share: whom to ask goes by the fair order', async () => {
  const scene = stage({})
  await outcomeOf(scene)
  assert.deepEqual(scene.calls, ['fair'])
})

test('what is done and not claimed is paid for; what is claimed is not paid again', async () => {
  const unclaimed = stage({ hold: 'confirmed' })
  const hired = await outcomeOf(unclaimed)
  assert.ok(typeof hired !== 'string')
  assert.deepEqual([hired.cost, unclaimed.calls], [0.05, ['fair', 'settle']])
  const claimed = stage({ hold: 'captured' })
  await outcomeOf(claimed)
  assert.deepEqual(claimed.calls, ['fair'])
})

test('a silent one leaves time for the next: half of what is left, 10 s at most', async () => {
  const scene = stage({ ask: [SILENT, SILENT, ACCEPTED], candidates: [ONE, TWO, ONE] })
  await outcomeOf(scene)
  assert.deepEqual(scene.asked[0]?.timeoutMs, 10_000)
  const late = stage({ ask: [SILENT] })
  const terms = { ...late.errand.terms, deadline: START + 8_000 }
  await outcomeOf({ ...late, errand: { ...late.errand, terms } })
  assert.equal(late.asked[0]?.timeoutMs, 4_000)
})

test('who is full is asked again when it said, who refuses for good is not', async () => {
  const scene = stage({ ask: [FULL, REFUSED, ACCEPTED], candidates: [ONE, TWO] })
  const came = await outcomeOf(scene)
  assert.notEqual(typeof came, 'string')
  assert.deepEqual(
    scene.asked.map(({ agent }) => agent),
    [ONE, TWO, ONE],
  )
})

describe('beyond the first page', () => {
  const many = Array.from({ length: 45 }, (_, at) => `agent-${at}` as AgentId)
  const refusals = (count: number) => Array.from({ length: count }, () => REFUSED)

  test('the next are looked for while there is time, and nobody is asked twice', async () => {
    // The forty-second says yes.
    const scene = stage({ ask: [...refusals(41), ACCEPTED], candidates: many, quickly: true })
    const came = await outcomeOf(scene)
    assert.notEqual(typeof came, 'string')
    assert.deepEqual(
      scene.asked.map(({ agent }) => agent),
      many.slice(0, 42),
    )
    assert.equal(scene.calls.filter((each) => each === 'fair').length, 3)
  })

  test('to the last of them', async () => {
    const scene = stage({ ask: [REFUSED], candidates: many, quickly: true })
    assert.equal(await outcomeOf(scene), 'nobody_accepted')
    assert.equal(scene.asked.length, 45)
  })

  test('but not beyond the deadline', async () => {
    const scene = stage({ ask: [REFUSED], candidates: many })
    assert.equal(await outcomeOf(scene), 'deadline_passed')
    assert.equal(scene.asked.length, 30)
  })
})

describe('what is told', () => {
  const namesOf = async (script: Script) => {
    const scene = stage(script)
    const told: HireMoment[] = []
    const tell = createTeller((step) => told.push(step), { task: TASK, now: scene.now })
    await outcomeOf({ ...scene, errand: { ...scene.errand, ...(tell && { tell }) } })
    return told.map(({ is }) => is)
  }
  const START_OF_ALL = ['looking', 'found', 'asked'] as const
  const END_OF_ALL = ['result', 'settled'] as const
  // biome-ignore format: a table is read by its columns
  const rows: [situation: string, script: Script, told: readonly HireMoment['is'][]][] = [
    ['accepted and done',           {},                                               [...START_OF_ALL, 'accepted', ...END_OF_ALL]],
    ['deferred, then accepted',     { ask: [LATER], look: [LATER, ACCEPTED, DONE] },  [...START_OF_ALL, 'deferred', 'accepted', ...END_OF_ALL]],
    ['silent, and at work after all', { ask: [SILENT], withdraw: 'bound' },           [...START_OF_ALL, 'unknown', 'accepted', ...END_OF_ALL]],
    ['refused, and the next one',   { ask: [REFUSED, ACCEPTED], candidates: [ONE, TWO] }, [...START_OF_ALL, 'declined', 'asked', 'accepted', ...END_OF_ALL]],
    ['full, and asked again',       { ask: [FULL, ACCEPTED] },                        [...START_OF_ALL, 'declined', 'waiting', ...START_OF_ALL, 'accepted', ...END_OF_ALL]],
    ['failed',                      { look: [{ ...DONE, report: { ...DONE.report, how: 'failed' } }] }, [...START_OF_ALL, 'accepted', 'result']],
  ]
  for (const [situation, script, told] of rows) {
    test(situation, async () => assert.deepEqual(await namesOf(script), told))
  }
})

test('nobody is waited for beyond the deadline', async () => {
  const scene = stage({ ask: [{ ...FULL, retryAfterMs: 60_000 }] })
  assert.equal(await outcomeOf(scene), 'nobody_accepted')
  assert.ok(scene.now() < DEADLINE)
})
