/**
 * Approvals and posts over HTTP, against real hubs that require authentication: a reviewer
 * approves, an agent of the same owner uses the approval and posts, and everybody else is refused.
 */
import assert from 'node:assert/strict'
import { createHmac, randomUUID, sign } from 'node:crypto'
import type { ApprovalReceiptMessage } from '@chimera/dialects/chimera'
import type { PublicKey } from '@chimera/domain/ids'
import { createClock } from '@chimera/host/clock'
import { canonicalDigest } from '@chimera/identity/canonical'
import { createKeyring } from '@chimera/identity/keyring'
import { generateKeyPair, type KeyPair } from '@chimera/identity/keys'
import { verifyMessage } from '@chimera/identity/message'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { type Asker, createAsker } from './asking.ts'
import type { Engine } from './engines.ts'
import type { Answered, TestHub } from './running.ts'

const real = createClock()
let aheadMs = 0
const clock = { ...real, now: () => real.now() + aheadMs }
const HOUR_MS = 3_600_000

let engine: Engine
let hub: TestHub
let asker: Asker

type Body = Record<string, unknown>
const said = ({ status, body }: Answered) => [status, body.code].join(' ').trim()
const later = (ms: number) => new Date(clock.now() + ms).toISOString()

export const packageOf = (more: Body = {}): Body => ({
  content_id: randomUUID(),
  task_id: randomUUID(),
  trend_ref: randomUUID(),
  script: 'Our harbour gets a library, with reading rooms, a cinema and space to build things.',
  captions: 'A free place to meet is coming to the old warehouses.',
  media_urls: [],
  hashtags: ['#harbour', '#library', '#reading'],
  confidence_score: 0.9,
  requires_review: false,
  ...more,
})
const named = (content: Body, more: Body = {}): Body => ({
  content_id: content.content_id,
  content_sha256: canonicalDigest(content),
  platform: 'twitter',
  ...more,
})
const approve = (body: Body, sent: object) => asker.send('/v1/approvals', { ...sent, body })
const use = (approval_token: unknown, body: Body, sent: object) =>
  asker.send('/v1/approvals/uses', {
    ...sent,
    body: { approval_token, use_id: 'run-1', ...body },
  })
const post = (body: Body, sent: object) => asker.send('/v1/posts', { ...sent, body })

async function approved(content: Body, more: Body = {}) {
  const agent = await asker.newAgent()
  const given = await approve(named(content, more), { token: agent.token })
  assert.equal(given.status, 201, JSON.stringify(given.body))
  return { ...agent, text: String(given.body.approval_token), given: given.body }
}

/** All the way, by key. */
async function posted(content: Body, more: Body = {}) {
  const all = await approved(content, { reviewer_id: 'Ada Lovelace', ...more })
  const used = await use(all.text, named(content, more), { key: all.key })
  assert.equal(used.status, 200, JSON.stringify(used.body))
  const asked = {
    content,
    platform: 'twitter',
    ...more,
    approval_id: all.given.approval_id,
  }
  const answer = await post(asked, { key: all.key })
  return { ...all, asked, answer, receipt: used.body }
}

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A token such as nobody here would sign. */
function forged(header: Body, claims: Body, seal: (text: string) => string): string {
  const text = `${part(header)}.${part(claims)}`
  return `${text}.${seal(text)}`
}
const byKey = (key: KeyPair) => (text: string) =>
  sign(null, Buffer.from(text), key.privateKey).toString('base64url')

async function factsOf(type: string, id: unknown): Promise<readonly Body[]> {
  await hub.hub.settle()
  const found: Body[] = []
  for (let seq = 0; ; ) {
    const page = await hub.hub.keep.trail.sealedAfter(seq)
    for (const { fact } of page) {
      const { approval, post: one, ...rest } = fact as Body & Record<'approval' | 'post', Body>
      if (rest.type !== type) continue
      if ([rest.id, approval?.id, one?.approval].includes(id)) found.push(fact as Body)
    }
    const last = page.at(-1)
    if (last === undefined) return found
    seq = last.seq
  }
}

export function postsContract(open: () => Engine): void {
  beforeAll(async () => {
    engine = open()
    hub = await engine.start({ auth: 'required', clock })
    asker = createAsker(hub, clock)
  }, 120_000)
  afterAll(async () => {
    await hub?.stop()
    await engine?.end()
  }, 60_000)

  describe('an approval', () => {
    test('P-5 X-9 is signed for a reviewer, used once, and leaves a receipt', async () => {
      const content = packageOf()
      const agent = await asker.newAgent()
      const given = await approve(
        { content, platform: 'twitter', reviewer_id: 'Ada', ttl_seconds: 600 },
        { token: agent.token },
      )
      assert.equal(given.status, 201, JSON.stringify(given.body))
      const { approval_id: id, approval_token: text, ...terms } = given.body
      assert.equal(terms.content_sha256, canonicalDigest(content), 'of the package as it came')
      const claims = JSON.parse(
        Buffer.from(String(text).split('.')[1] ?? '', 'base64url').toString(),
      )
      assert.deepEqual([claims.sub, claims.jti], ['Ada', id])
      assert.equal(claims.exp - claims.iat, 600)

      const used = await use(text, named(content), { key: agent.key })
      assert.equal(used.status, 200, JSON.stringify(used.body))
      const { public_key } = (await hub.get('/v1/keys/hub')).body
      assert.ok(verifyMessage(used.body, public_key as PublicKey, createKeyring()).ok)
      assert.equal(used.body.reviewer_id, 'Ada')

      aheadMs += 3 * HOUR_MS
      const again = await use(text, named(content), { key: agent.key })
      assert.deepEqual(again, used, 'the same use, long after its end')
      const other = await use(text, named(content, { use_id: 'run-2' }), { key: agent.key })
      assert.equal(said(other), '409 approval_used')

      const facts = await factsOf('approval_used', id)
      assert.equal(facts.length, 1)
      assert.equal(facts[0]?.reviewer, 'Ada')
      assert.equal(facts[0]?.by, `agent:${agent.id}`)
      assert.equal((await factsOf('publication_approved', id)).length, 1)

      const shown = await asker.send(`/v1/approvals/${String(id)}`, { token: agent.token })
      assert.deepEqual([shown.body.state, shown.body.receipt], ['used', used.body])
      assert.ok(!JSON.stringify(shown.body).includes(String(text)))
    })

    test('P-5 of many who use it at once, one wins', async () => {
      const content = packageOf()
      const { text, key } = await approved(content)
      const all = await Promise.all(
        Array.from({ length: 6 }, (_, at) =>
          use(text, named(content, { use_id: `run-${at}` }), { key }),
        ),
      )
      const ends = all.map(said).sort()
      assert.deepEqual(ends, ['200', ...Array.from({ length: 5 }, () => '409 approval_used')])
    })

    test('P-5 SK-10 what does not fit is refused, and leaves it as it was', async () => {
      const content = packageOf()
      const more = { schedule_time: later(5 * HOUR_MS), ttl_seconds: 7_200 }
      const { text, given, key, id } = await approved(content, more)
      const { ttl_seconds: _, ...fits } = named(content, more)
      const { public_key, key_id } = (await hub.get('/v1/keys/hub')).body
      const [head = '', claimed = ''] = text.split('.')
      const header = JSON.parse(Buffer.from(head, 'base64url').toString()) as Body
      const claims = JSON.parse(Buffer.from(claimed, 'base64url').toString()) as Body
      assert.equal(header.kid, key_id)
      const stranger = generateKeyPair()
      const hmac = (one: string) =>
        createHmac('sha256', Buffer.from(String(public_key), 'base64url'))
          .update(one)
          .digest('base64url')
      const eve = await asker.newAgent()
      const edited = canonicalDigest({ ...content, captions: 'Another caption than was seen.' })
      // biome-ignore format: a table is read by its columns
      const rows: [why: string, answer: string, token: string, body: Body, sent: object][] = [
        ['edited content',         '409 approval_mismatched', text, { ...fits, content_sha256: edited },       { key }],
        ['another content',        '409 approval_mismatched', text, { ...fits, content_id: randomUUID() },     { key }],
        ['another platform',       '409 approval_mismatched', text, { ...fits, platform: 'tiktok' },           { key }],
        ['another time',           '409 approval_mismatched', text, { ...fits, schedule_time: later(1) },      { key }],
        ['no time',                '409 approval_mismatched', text, { ...fits, schedule_time: null },          { key }],
        ['another owner',          '401 approval_invalid',    text, fits,                                      { key: eve.key }],
        ['no algorithm',           '401 approval_invalid',    forged({ ...header, alg: 'none' }, claims, () => 'x'), fits, { key }],
        ['the public key as a secret', '401 approval_invalid', forged({ ...header, alg: 'HS256' }, claims, hmac), fits,   { key }],
        ['another key',            '401 approval_invalid',    forged({ ...header, kid: stranger.id }, claims, byKey(stranger)), fits, { key }],
        ['another key under our name', '401 approval_invalid', forged(header, claims, byKey(stranger)), fits,           { key }],
        ['claims that were changed', '401 approval_invalid',  [head, part({ ...claims, platform: 'tiktok' }), text.split('.')[2]].join('.'), { ...fits, platform: 'tiktok' }, { key }],
        ['nobody',                 '401 caller_unknown',      text, fits,                                      {}],
      ]
      for (const [why, answer, token, body, sent] of rows) {
        assert.equal(said(await use(token, body, sent)), answer, why)
      }
      // Signed by the hub itself, but for somebody else, of another kind, or never given.
      const own = hub.hub.key
      assert.ok(own)
      // biome-ignore format: a table is read by its columns
      const signed: [why: string, header: Body, claims: Body][] = [
        ['another audience',     header,                          { ...claims, aud: 'elsewhere' }],
        ['two audiences',        header,                          { ...claims, aud: [claims.aud, 'elsewhere'] }],
        ['another issuer',       header,                          { ...claims, iss: 'elsewhere' }],
        ['another kind',         { ...header, typ: 'JWT' },       claims],
        ['an id never given',    header,                          { ...claims, jti: randomUUID() }],
        ['a life too long',      header,                          { ...claims, exp: Number(claims.iat) + 7_201 }],
        ['from the future',      header,                          { ...claims, iat: Number(claims.iat) + 600, exp: Number(claims.iat) + 900 }],
      ]
      for (const [why, head, body] of signed) {
        const answer = await use(forged(head, body, byKey(own)), fits, { key })
        assert.equal(said(answer), '401 approval_invalid', why)
      }
      const open = await asker.send(`/v1/approvals/${String(given.approval_id)}`, { key })
      assert.equal(open.body.state, 'open')
      aheadMs += 2 * HOUR_MS
      assert.equal(said(await use(text, fits, { key })), '401 approval_expired')
      const over = await asker.send(`/v1/approvals/${String(given.approval_id)}`, { key })
      assert.equal(over.body.state, 'expired')
      assert.ok(id)
    })

    test('X-9 only who may review gives one, for its own owner', async () => {
      const body = named(packageOf())
      const agent = await asker.newAgent()
      const narrow = async (scopes: readonly string[]) =>
        (await asker.narrower(agent.token, { scopes })).token
      const reviewer = await narrow(['review'])
      const publisher = await narrow(['agents'])
      assert.equal(said(await approve(body, { token: reviewer })), '201')
      assert.equal(said(await approve(body, { token: publisher })), '403 caller_forbidden')
      assert.equal(said(await approve(body, { key: agent.key })), '403 caller_forbidden', 'its key')
      assert.equal(said(await approve(body, { token: asker.operator })), '403 caller_forbidden')
      assert.equal(said(await approve(body, {})), '401 caller_unknown')
      assert.equal(
        said(await approve({ ...body, ttl_seconds: 7_201 }, { token: reviewer })),
        '400 message_malformed',
      )
      const half = { content: packageOf({ captions: `Half a character: \ud800 ${'x'.repeat(9)}` }) }
      const answer = await approve({ ...half, platform: 'twitter' }, { token: reviewer })
      assert.equal(said(answer), '400 message_malformed')

      const { approval_id, approval_token } = (await approve(body, { token: reviewer })).body
      assert.equal(
        said(await use(approval_token, body, { token: reviewer })),
        '403 caller_forbidden',
      )
      assert.equal(said(await use(approval_token, body, { token: publisher })), '200')
      const eve = await asker.newAgent()
      const path = `/v1/approvals/${String(approval_id)}`
      assert.equal(said(await asker.send(path, { token: eve.token })), '404 approval_unknown')
      assert.equal(said(await asker.send(path, { token: asker.operator })), '200')
      assert.equal(
        said(await asker.send(`/v1/approvals/${randomUUID()}`, { token: eve.token })),
        '404 approval_unknown',
      )
      const list = async (query: string, token: string) =>
        asker.send(`/v1/approvals${query}`, { token })
      const mine = await list('?limit=1', agent.token)
      assert.equal((mine.body.approvals as Body[]).length, 1)
      const rest = await list(`?limit=9&after=${String(mine.body.next_after)}`, agent.token)
      assert.equal((rest.body.approvals as Body[]).length, 1)
      assert.deepEqual((await list('', eve.token)).body.approvals, [])
      const asked = `?owner_id=${agent.owner}`
      assert.equal(said(await list(asked, eve.token)), '403 caller_forbidden')
      assert.equal((await list(asked, asker.operator)).status, 200)
    })
  })

  describe('a post', () => {
    test('SK-10 P-5 is out once, at an address of its own, with its reviewer', async () => {
      const content = packageOf({
        platform_variants: { twitter: { text: 'The harbour reads. #harbour' } },
      })
      const { answer, asked, key, token, owner, given, receipt } = await posted(content)
      assert.equal(answer.status, 201, JSON.stringify(answer.body))
      const { post_id, post_url, ...rest } = answer.body
      assert.equal(post_url, `${hub.address}/posts/${String(post_id)}`)
      assert.equal(rest.text, 'The harbour reads. #harbour')
      assert.deepEqual([rest.status, rest.reviewer_id], ['published', 'Ada Lovelace'])
      const again = await post(asked, { key })
      assert.deepEqual([again.status, again.body], [200, answer.body])
      const edited = { ...asked, content: { ...content, captions: 'Something quite different.' } }
      assert.deepEqual((await post(edited, { key })).body, answer.body, 'a duplicate')
      const facts = await factsOf('post_accepted', given.approval_id)
      assert.equal(facts.length, 1)
      assert.equal((facts[0]?.post as Body | undefined)?.reviewer, 'Ada Lovelace')

      const page = await fetch(post_url)
      const html = await page.text()
      assert.equal(page.status, 200)
      assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'/)
      for (const words of ['The harbour reads.', 'Ada Lovelace', '#library', 'not Twitter']) {
        assert.ok(html.includes(words), words)
      }
      assert.ok(html.includes((receipt as ApprovalReceiptMessage).signature))

      const found = await asker.send(`/v1/posts?content_id=${String(content.content_id)}`, { key })
      assert.deepEqual(found.body, { posts: [answer.body] })
      const shown = await asker.send(`/v1/posts/${String(post_id)}`, { token })
      assert.deepEqual(shown.body, answer.body)
      const eve = await asker.newAgent()
      const path = `/v1/posts/${String(post_id)}`
      assert.equal(said(await asker.send(path, { token: eve.token })), '404 post_unknown')
      const others = `/v1/posts?owner_id=${owner}`
      assert.equal(said(await asker.send(others, { token: eve.token })), '403 caller_forbidden')
    })

    test('SK-10 many who post the same at once have one post', async () => {
      const content = packageOf()
      const { text, key, given } = await approved(content)
      await use(text, named(content), { key })
      const asked = { content, platform: 'twitter', approval_id: given.approval_id }
      const all = await Promise.all(Array.from({ length: 5 }, () => post(asked, { key })))
      assert.equal(new Set(all.map(({ body }) => body.post_id)).size, 1)
      assert.equal(all.filter(({ status }) => status === 201).length, 1)
    })

    test('P-5 needs an approval that was used for exactly this', async () => {
      const content = packageOf()
      const { text, key, given, token } = await approved(content)
      const asked = { content, platform: 'twitter', approval_id: given.approval_id }
      assert.equal(said(await post(asked, { key })), '409 approval_unused')
      await use(text, named(content), { key })
      const edited = { ...content, captions: 'Something else than was approved.' }
      const eve = await asker.newAgent()
      const reviewer = (await asker.narrower(token, { scopes: ['review'] })).token
      // biome-ignore format: a table is read by its columns
      const rows: [why: string, answer: string, body: Body, sent: object][] = [
        ['edited content',    '409 approval_mismatched', { ...asked, content: edited },             { key }],
        ['another platform',  '409 approval_mismatched', { ...asked, platform: 'tiktok' },          { key }],
        ['another time',      '409 approval_mismatched', { ...asked, schedule_time: later(1_000) }, { key }],
        ['another approval',  '404 approval_unknown',    { ...asked, approval_id: randomUUID() },   { key }],
        ['another owner',     '404 approval_unknown',    asked,                                     { key: eve.key }],
        ['a reviewer',        '403 caller_forbidden',    asked,                                     { token: reviewer }],
        ['a secret in it',    '400 message_malformed',   { ...asked, content: { ...content, captions: `chm_${'a1'.repeat(12)} is my key` } }, { key }],
      ]
      for (const [why, answer, body, sent] of rows) {
        assert.equal(said(await post(body, sent)), answer, why)
      }
      assert.equal(said(await post(asked, { key })), '201')
    })

    test('SK-10 that is scheduled is out at its time, after a restart too', async () => {
      const content = packageOf()
      const { answer, key } = await posted(content, { schedule_time: later(HOUR_MS) })
      const { post_url, post_id, status, published_at } = answer.body
      assert.deepEqual([answer.status, status, published_at], [201, 'scheduled', undefined])
      const html = await (await fetch(String(post_url))).text()
      assert.ok(html.includes('Scheduled'))
      assert.ok(!html.includes('old warehouses'), 'nothing of what it will say')
      await hub.stop()
      hub = await engine.start({ auth: 'required', clock, newOperator: true, seed: 2 })
      asker = createAsker(hub, clock)
      const path = `/posts/${String(post_id)}`
      const before = await (await fetch(hub.address + path)).text()
      assert.ok(!before.includes('old warehouses'))
      aheadMs += HOUR_MS + 1_000
      const after = await (await fetch(hub.address + path)).text()
      assert.ok(after.includes('old warehouses'))
      const shown = await asker.send(`/v1${path}`, { key })
      assert.equal(shown.body.status, 'published')
      assert.equal(shown.body.published_at, shown.body.scheduled_for)
    })

    test('no page for what is not there', async () => {
      for (const id of [randomUUID(), 'nowhere', '..%2f..%2fetc']) {
        const page = await fetch(`${hub.address}/posts/${id}`)
        assert.equal(page.status, 404)
        assert.match(page.headers.get('content-type') ?? '', /text\/html/)
        assert.ok(!(await page.text()).includes(id))
      }
    })
  })
}
