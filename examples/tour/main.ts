/**
 * One hire from announcement to trust, decided by the real rules and told in the words of the five
 * protocols. Nothing is sent anywhere; time is handed in. It asserts what it shows and exits 0.
 */
import assert from 'node:assert/strict'
import * as chorus from '@chimera/dialects/chorus'
import * as feed from '@chimera/dialects/feed'
import * as moltbook from '@chimera/dialects/moltbook'
import * as openclaw from '@chimera/dialects/openclaw'
import { type Agent, applyAgent, decideRegister } from '@chimera/domain/agent/agent'
import { applyCondition, decideCondition } from '@chimera/domain/agent/condition'
import { GENESIS, reconcile, sealFacts, verifyChain } from '@chimera/domain/audit'
import type { Decision } from '@chimera/domain/decision'
import { rankForDiscovery } from '@chimera/domain/matching/matching'
import { balancesOf, foldFacts, type MoneyFact, openBooks } from '@chimera/domain/money/ledger'
import { decideMoney, type MoneyCommand } from '@chimera/domain/money/money'
import { applyPresence, decidePresence, livenessOf } from '@chimera/domain/presence/presence'
import type { Refusal } from '@chimera/domain/refusals'
import { outcomeOf } from '@chimera/domain/trust/outcome'
import { NO_PAIR_HISTORY } from '@chimera/domain/trust/pair-limit'
import { applyOutcome, NEWCOMER } from '@chimera/domain/trust/trust'
import { decideAdmission } from '@chimera/domain/work/admission'
import { applyCapacity, decideReserve, decideTake, slotsFree } from '@chimera/domain/work/capacity'
import { applyWork, decideWork, type Work, type WorkCommand } from '@chimera/domain/work/work'
import { canonicalDigest } from '@chimera/identity/canonical'
import { createKeyring } from '@chimera/identity/keyring'
import { generateKeyPair } from '@chimera/identity/keys'
import { signMessage, verifyMessage } from '@chimera/identity/message'
import * as cast from './cast.ts'
import { say, show, step } from './telling.ts'

/** The facts of a decision that the story takes for granted. */
function factsOf<Fact>(decision: Decision<Fact, Refusal>): readonly Fact[] {
  assert.ok(decision.ok, decision.ok ? '' : decision.refusal)
  return decision.facts
}

const keys = generateKeyPair()
let now = cast.NOON

step('Counter announces itself', 'Chorus, signed by its key')
const arrived = chorus.readRegistration(chorus.encodeRegistration(cast.registration, now))
assert.ok(arrived.ok)
const registrant = {
  key: { id: keys.id, publicKey: keys.publicKey },
  owner: cast.bolt,
  open: false,
  ownedAgents: 0,
}
const agent = factsOf(decideRegister(undefined, arrived.value, registrant, now)).reduce<
  Agent | undefined
>(applyAgent, undefined)
assert.ok(agent)
show(chorus.encodeRegistered(agent.id, NEWCOMER.running.scoreMicro))

step('It has room', 'MoltBook, every ten seconds, signed')
const announcement = moltbook.announce(
  {
    agent: cast.counter,
    instance: cast.instance,
    standing: cast.idle,
    capabilities: [cast.skill.name],
    load: { cpu: 0.12, mem: 0.48 },
    correlation: cast.correlation,
  },
  now,
)
const post = signMessage(moltbook.encodePresence(announcement), keys)
assert.ok(verifyMessage(post, keys.publicKey, createKeyring()).ok)
const heard = moltbook.readPresence(post)
assert.ok(heard.ok)
const sighting = factsOf(decidePresence(undefined, heard.value.announcement, now)).reduce<
  Parameters<typeof applyPresence>[0]
>(applyPresence, undefined)
assert.ok(sighting)
show({ state: post.state, capacity: post.capacity, expires_at: post.expires_at })
say(`the directory has it ${livenessOf(sighting, now)}`)

step('A planner looks for word_count', 'ranked, and each place explains itself')
now += 3_000
const candidate = {
  agent: cast.counter,
  owner: cast.bolt,
  offers: [{ skill: cast.skill.name, costCents: cast.PRICE_CENTS }],
  scoreMicro: NEWCOMER.running.scoreMicro,
  successes: 0,
  failures: 0,
  settledCount: 0,
  slotsFree: 2,
  slotsTotal: 2,
  load: announcement.load,
  seenAt: sighting.seenAt,
  online: true,
  accepting: true,
}
const search = { skills: [cast.skill.name], match: 'all' } as const
const [hit] = rankForDiscovery(search, [candidate], now).hits
assert.ok(hit)
for (const sentence of chorus.explainHit(hit)) say(sentence)

step('It reserves a slot and the money', 'both, or neither')
const promise = { id: cast.reservation, planner: cast.planner, task: cast.task, slots: 1 }
const offer = { ...promise, deadline: now + 60_000, hold: cast.hold }
let room = factsOf(decideReserve(cast.room, offer, now)).reduce(applyCapacity, cast.room)

const ledger: MoneyFact[] = []
const books = () => foldFacts(ledger)
function pay(command: MoneyCommand): void {
  ledger.push(...factsOf(decideMoney(books(), command, now)))
}
pay({ type: 'open_account', owner: cast.acme, grantCents: 10_000, transfer: cast.grant })
pay({ type: 'open_account', owner: cast.bolt, grantCents: 0, transfer: cast.payment })
pay({
  type: 'hold_credits',
  hold: cast.hold,
  payer: cast.acme,
  payee: cast.bolt,
  agent: cast.counter,
  task: cast.task,
  amountCents: 10,
  lapsesAt: now + 30_000,
  by: cast.acme,
})
say(`${slotsFree(room, now)} of ${room.slots} slots left, 0.1 credits held`)

step('It asks', 'OpenClaw, through the admission ladder')
const request = openclaw.readRequest(openclaw.encodeRequest(cast.asked, now))
assert.ok(request.ok)
const content = canonicalDigest(openclaw.contentOf(request.value))
const { claimedRequester, input, type: _, ...named } = request.value
const ask = { ...named, requester: claimedRequester, work: cast.work, agent: cast.counter }
const desk = {
  accepting: true,
  skills: [cast.skill],
  rate: { perMinute: 20, admitted: [], waiting: [] },
  room: { queue: [], slotsFreeAt: [now, now] },
  slotsTotal: room.slots,
  slotsFree: slotsFree(room, now),
  reserved: true,
  heldCents: 10,
  open: false,
}
const [admitted] = factsOf(
  decideAdmission(
    desk,
    { ...ask, content, askedAt: now },
    { schemaIssues: [], inputIssues: [] },
    now,
  ),
)
assert.equal(admitted?.answer, 'accepted')
let job: Work = {
  ask: { ...ask, content, askedAt: now },
  priceCents: admitted.priceCents,
  state: { name: 'accepted', acceptedAt: now, estimatedEnd: admitted.estimatedEnd },
}
const reply = { task: cast.task, agent: cast.counter, correlation: cast.correlation }
show(openclaw.encodeAccepted(reply, { work: cast.work, estimatedEnd: admitted.estimatedEnd }, now))
pay({ type: 'confirm_hold', hold: cast.hold, agent: cast.counter, priceCents: cast.PRICE_CENTS })

step('It works', 'one lifecycle, in everybody’s words')
const occupation = { work: cast.work, planner: cast.planner, task: cast.task, slots: 1 }
room = factsOf(decideTake(room, occupation, now)).reduce(applyCapacity, room)
const proceed = (command: WorkCommand) => {
  job = factsOf(decideWork(job, command, now)).reduce(applyWork, job)
}
proceed({ type: 'start' })
const workload = { running: 1, awaiting: 0, slotsTotal: 2, slotsFree: slotsFree(room, now) }
const standing = factsOf(
  decideCondition(cast.idle, { type: 'update_workload', workload }, now),
).reduce(applyCondition, cast.idle)
show({
  ours: standing.condition.name,
  openclaw: openclaw.encodeStatus(standing, now).current_status,
  feed: feed.encodeCondition(standing.condition),
  moltbook: moltbook.encodeStanding(standing),
  chorus: chorus.encodeCondition(standing.condition),
})

step('It delivers', 'and is paid for it, once')
now += 1_250
const output = { words: String(input.text).split(/\s+/).length }
proceed({ type: 'finish', endedAt: now, output: canonicalDigest(output) })
const capture: MoneyCommand = {
  type: 'capture_hold',
  hold: cast.hold,
  transfer: cast.payment,
  agent: cast.counter,
  amountCents: cast.PRICE_CENTS,
}
pay(capture)
pay(capture) // The same claim again moves nothing.
proceed({ type: 'settle', capturedCents: cast.PRICE_CENTS })
show(
  chorus.encodeJobResult(
    {
      type: 'work_reported',
      task: cast.task,
      agent: cast.counter,
      how: 'done',
      output,
      costCents: cast.PRICE_CENTS,
      durationMs: 1_250,
    },
    now,
  ),
)
for (const owner of [cast.acme, cast.bolt]) {
  const { owner_id, balance } = chorus.encodeAccount(
    owner,
    books().accounts.get(owner)?.balanceCents ?? 0,
  )
  say(`${owner_id} has ${balance}`)
}

step('It is trusted a little more', 'settled work between strangers, and nothing else')
const outcome = outcomeOf(job, {
  owner: cast.bolt,
  hirerOwner: cast.acme,
  hirerAgent: cast.planner,
  respondedAt: cast.NOON + 3_000,
  settledAt: now,
})
assert.ok(outcome)
const hirerMicro = NEWCOMER.running.scoreMicro
const { running, window } = applyOutcome(NEWCOMER, outcome, hirerMicro, NO_PAIR_HISTORY)
say(
  `Chorus:   ${chorus.writeScore(running.beforeMicro)} → ${chorus.writeScore(running.afterMicro)}`,
)
say(`OpenClaw: ${window.beforeMicro / 1e6} → ${window.afterMicro / 1e6}`)

step('The books prove themselves', 'offline, from the facts alone')
const recorded = ledger.map((fact) => {
  return { fact, recordedAt: fact.at, correlation: cast.correlation }
})
const { sealed, head } = sealFacts(GENESIS, recorded, canonicalDigest)
const chain = verifyChain(sealed, canonicalDigest, { until: head })
const proof = reconcile(sealed, balancesOf(foldFacts(ledger, openBooks())))
assert.ok(chain.ok && proof.ok)
assert.equal(books().accounts.get(cast.bolt)?.balanceCents, cast.PRICE_CENTS)
assert.equal(books().accounts.get(cast.acme)?.balanceCents, 10_000 - cast.PRICE_CENTS)
say(`${chain.count} facts in an unbroken chain, every balance follows from them`)

say('')
say('The same over HTTP, on this machine: npm start -- hub')
say('An agent of your own: npm start -- new agent, then npm start -- agent <file> --watch')
say('And have it work: npm start -- hire <skill> --help')
say('To come: the content fleet and its page.')
