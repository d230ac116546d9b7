/**
 * Direct probes, with real servers that answer, hang, cut and refuse, and a hub whose time is
 * virtual (AV-6, P-13).
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readDirectory } from '@chimera/dialects/moltbook'
import { LIMITS } from '@chimera/domain/limits'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import { afterAll, beforeAll, test } from 'vitest'
import { createPoster, type Poster } from './posting.ts'
import { runHub, type TestHub } from './running.ts'

const clock = createVirtualClock()
let hub: TestHub
beforeAll(async () => {
  // All in the same wave, so that among those who are silent there is always one who answers.
  hub = await runHub({ clock, allowNet: ['127.0.0.1'], fraction: () => 0.5 })
}, 60_000)

type Peer = {
  readonly url: string
  /** When it was asked, and for what. */
  readonly asked: { readonly at: number; readonly what: string }[]
  answer: RequestListener
  readonly close: () => Promise<void>
}
const peers: Peer[] = []

async function newPeer(answer: RequestListener): Promise<Peer> {
  const asked: Peer['asked'] = []
  const server = createServer((request, response) => {
    asked.push({ at: clock.now(), what: `${request.method} ${request.url}` })
    peer.answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const peer: Peer = {
    url: `http://127.0.0.1:${port}`,
    asked,
    answer,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  peers.push(peer)
  return peer
}
afterAll(async () => {
  await hub.stop()
  for (const peer of peers) await peer.close()
})

const answers: RequestListener = (_, response) => void response.writeHead(404).end()
const redirects: RequestListener = (_, response) =>
  void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()
const hangs: RequestListener = () => undefined
const cuts: RequestListener = (request) => void request.socket.destroy()
const answersHead: RequestListener = (request, response) => {
  if (request.method === 'HEAD') response.writeHead(405).end()
}

/** A step is shorter than a probe may take; each lets what is on the wire arrive. */
const STEP_MS = 2_000

async function pass(ms: number, posting: readonly Poster[]): Promise<void> {
  const end = clock.now() + ms
  for (let lastPost = 0; clock.now() < end; ) {
    if (clock.now() - lastPost >= LIMITS.presenceCadenceMs) {
      lastPost = clock.now()
      for (const each of posting) await each.post()
    }
    await clock.advanceTo(Math.min(end, clock.now() + STEP_MS))
    // The servers and the hub share our event loop: whatever was sent before is answered by then.
    for (let round = 0; round < 4; round += 1) await hub.get('/health')
  }
}

async function listed(skill: string) {
  const { body } = await hub.get(`/moltbook/v1/directory?capability=${skill}&limit=100`)
  const read = readDirectory(body)
  assert.ok(read.ok, JSON.stringify(read))
  return read.value.instances
}
/** Whom a planner would ask, and why the others are not asked. */
async function offered(skill: string) {
  const { body } = await hub.get(`/discover?skill=${skill}&limit=100`)
  return (body.agents as { agent_id: string }[]).map(({ agent_id }) => agent_id).sort()
}
const silent = (why: readonly string[]) => why.some((each) => each.includes('did not answer'))

async function counted(result: string): Promise<number> {
  const page = await (await fetch(`${hub.address}/metrics`)).text()
  const line = new RegExp(`^presence_probes_total\\{result="${result}"\\} (\\d+)$`, 'm')
  return Number(line.exec(page)?.[1] ?? 0)
}

const PERIOD = LIMITS.probeMs + 4 * LIMITS.probeWaveMs
const SLOW = { timeout: 120_000 }
const newSkill = () => `skill_${randomUUID().slice(0, 8)}`

/** One poster at each peer. Where it takes offers, or where its agent takes jobs. */
async function posters(skill: string, urls: readonly string[]): Promise<readonly Poster[]> {
  const made: Poster[] = []
  for (const [place, url] of urls.entries()) {
    const poster = await createPoster(hub, clock, { skill, endpoint: `${url}/jobs` })
    made.push(poster)
    if (place % 2 === 0) continue
    await clock.advanceBy(1)
    await poster.declare({ callback: `${url}/offers` })
  }
  return made
}
const leaveAll = async (all: readonly Poster[]) => {
  await clock.advanceBy(1)
  for (const each of all) await each.leave()
}

test(
  'AV-6 P-6 who posts and does not answer is not offered, and it is said why',
  SLOW,
  async () => {
    const skill = newSkill()
    const ways = [answers, redirects, answersHead, hangs, cuts]
    const made = await Promise.all(ways.map(newPeer))
    const closed = await newPeer(answers)
    await closed.close()
    const inside = 'http://10.1.2.3:80'
    const all = await posters(skill, [...made.map(({ url }) => url), closed.url, inside])
    const [one, two, three, hanging, cutting, refusing, unprobed] = all
    assert.ok(one && two && three && hanging && cutting && refusing && unprobed)
    const before = await counted('skipped')

    await pass(PERIOD, all)
    const reached = [one, two, three, unprobed].map(({ id }) => id as string).sort()
    assert.deepEqual(await offered(skill), reached)
    const found = await listed(skill)
    assert.deepEqual(
      found.map(({ why }) => silent(why)),
      [false, false, false, false, true, true, true],
    )
    assert.deepEqual(
      found
        .slice(0, 4)
        .map(({ agent }) => agent as string)
        .sort(),
      reached,
    )
    assert.ok(found.every(({ availability }) => availability === 'available'))
    assert.ok((await counted('skipped')) > before, 'a private address is not dialled')

    const peer = made[3]
    assert.ok(peer)
    peer.answer = answers
    await pass(PERIOD, all)
    assert.deepEqual(await offered(skill), [...reached, hanging.id as string].sort())

    for (const { asked } of made) {
      const first = asked.filter(({ what }) => what === 'GET /health')
      assert.ok(first.length >= 2, JSON.stringify(asked))
      for (const [place, { at }] of first.entries()) {
        const earlier = first[place - 1]
        assert.ok(!earlier || at - earlier.at >= LIMITS.probeMs, 'never more often than the period')
      }
    }
    assert.ok(made[2]?.asked.some(({ what }) => what === 'HEAD /jobs'))
    await leaveAll(all)
  },
)

test('AV-6 who answers and does not post is not there', SLOW, async () => {
  const skill = newSkill()
  const [peer, other] = [await newPeer(answers), await newPeer(answers)]
  const all = await posters(skill, [peer.url, other.url])
  const [quiet, posting] = all
  assert.ok(quiet && posting)
  await pass(PERIOD, all)
  assert.equal((await offered(skill)).length, 2)
  const asked = peer.asked.length
  await pass(PERIOD, [posting])
  assert.deepEqual(await offered(skill), [posting.id])
  assert.equal(peer.asked.length, asked, 'who is not listed is not asked')
  await leaveAll(all)
})

test('P-13 when nobody answers any more it is the hub, and all are offered', SLOW, async () => {
  const skill = newSkill()
  const made = await Promise.all(Array.from({ length: 6 }, () => newPeer(answers)))
  const all = await posters(
    skill,
    made.map(({ url }) => url),
  )
  await pass(PERIOD, all)
  const everybody = all.map(({ id }) => id as string).sort()
  assert.deepEqual(await offered(skill), everybody)
  for (const peer of made) peer.answer = cuts
  await pass(PERIOD, all)
  assert.deepEqual(await offered(skill), everybody)
  assert.ok((await counted('disregarded')) >= 5)
  for (const peer of made.slice(1)) peer.answer = answers
  await pass(PERIOD, all)
  assert.equal((await offered(skill)).length, 5, 'the one that stays away is known again')
  await leaveAll(all)
})
