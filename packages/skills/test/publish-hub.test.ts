/**
 * `publish_content` on a real hub: a reviewer approves there, the agent's own key uses the approval
 * and posts, and the post has a page. And without a hub, on this machine alone.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ContentPackage } from '@chimera/dialects/skills/content'
import type { PublishContentInput, PublishContentOutput } from '@chimera/dialects/skills/schema'
import type { PublicKey } from '@chimera/domain/ids'
import { createClock } from '@chimera/host/clock'
import { createGuardedClient, type GuardedClient } from '@chimera/host/guarded/client'
import { keepSecret } from '@chimera/host/settings/secret'
import { type Asker, createAsker } from '@chimera/hub/testing/asking'
import { runHub, type TestHub } from '@chimera/hub/testing/running'
import { canonicalDigest } from '@chimera/identity/canonical'
import type { KeyPair } from '@chimera/identity/keys'
import { createRunner } from '@chimera/skill/runner'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { createHubDesk } from '../src/approvals/hub-desk.ts'
import { createHubDoor } from '../src/publish/hub-door.ts'
import { type OpenPublishingOptions, openPublishing } from '../src/publish/open.ts'
import { startScheduler } from '../src/publish/scheduler.ts'
import { publishContent } from '../src/publish-content.ts'
import { approvedInput, contentOf, said } from './publishing.ts'

const real = createClock()
let aheadMs = 0
const clock = { ...real, now: () => real.now() + aheadMs }
const HOUR_MS = 3_600_000

let hub: TestHub
let asker: Asker
let client: GuardedClient

const doorOf = (
  proof: { readonly key?: KeyPair; readonly token?: string },
  address = hub.address,
) =>
  createHubDoor({
    address,
    client,
    now: clock.now,
    ...(proof.key && { key: proof.key }),
    ...(proof.token && { token: keepSecret(proof.token).secret }),
  })

/** All of it, closed when the test is over. */
async function withPublishing<Value>(
  options: Omit<OpenPublishingOptions, 'clock'>,
  use: (open: Awaited<ReturnType<typeof opened>>) => Promise<Value>,
): Promise<Value> {
  const all = await opened(options)
  try {
    return await use(all)
  } finally {
    await all.runner.close()
    await all.close()
  }
}
async function opened(options: Omit<OpenPublishingOptions, 'clock'>) {
  const lines: string[] = []
  const open = await openPublishing({ clock, ...options })
  const runner = createRunner({
    skills: [publishContent({ publishing: open.publishing })],
    clock,
    log: (line) => void lines.push(JSON.stringify(line)),
    watch: (event) => void lines.push(JSON.stringify(event)),
  })
  const publish = async (input: PublishContentInput) => {
    const outcome = await runner.run('publish_content', input)
    return outcome as typeof outcome & { readonly output: PublishContentOutput }
  }
  return { ...open, runner, publish, lines }
}

async function approve(token: string, content: ContentPackage, more: object = {}) {
  const { status, body } = await asker.send('/v1/approvals', {
    token,
    body: {
      content_id: content.content_id,
      content_sha256: canonicalDigest(content),
      platform: 'instagram',
      reviewer_id: 'Ada',
      ...more,
    },
  })
  assert.equal(status, 201, JSON.stringify(body))
  return { content, approval_token: String(body.approval_token), platform: 'instagram' as const }
}

beforeAll(async () => {
  hub = await runHub({ auth: 'required', clock })
  asker = createAsker(hub, clock)
  client = createGuardedClient({ clock: real, allowNet: ['127.0.0.1'] })
}, 120_000)
afterAll(async () => {
  await client?.close()
  await hub?.stop()
})

describe('publish_content on a hub', () => {
  test('SK-10 P-5 an approved post has a page, once, for key and token alike', async () => {
    const { key, token } = await asker.newAgent()
    const content = contentOf({ captions: 'The harbour gets a library; come and see it.' })
    const input = await approve(token, content)
    await withPublishing({ hub: doorOf({ key }) }, async ({ publish, lines }) => {
      const first = await publish(input)
      assert.ok(first.ok, JSON.stringify(first))
      const page = await fetch(String(first.output.post_url))
      const html = await page.text()
      assert.ok(html.includes('come and see it') && html.includes('Approved by Ada'))
      // Another process, which remembers nothing, with the owner's token instead of the key.
      await withPublishing({ hub: doorOf({ token }) }, async (other) => {
        const again = await other.publish(input)
        assert.ok(again.ok, JSON.stringify(again))
        assert.equal(again.output.post_id, first.output.post_id)
      })
      const kept = lines.join('\n')
      for (const secret of [
        token,
        input.approval_token,
        input.approval_token.split('.')[2] ?? '',
      ]) {
        assert.ok(!kept.includes(secret) && !JSON.stringify(first).includes(secret))
      }
    })
  })

  test('SK-10 what the hub refuses is refused, and the token is nowhere in it', async () => {
    const { key, token } = await asker.newAgent()
    const eve = await asker.newAgent()
    const content = contentOf()
    const input = await approve(token, content)
    const stale = await approve(token, contentOf(), { ttl_seconds: 1 })
    aheadMs += 2_000
    const { public_key } = (await hub.get('/v1/keys/hub')).body
    await withPublishing({ hub: doorOf({ key }) }, async ({ publish }) => {
      const edited = { ...content, captions: 'Not what the reviewer has seen at all.' }
      // biome-ignore format: a table is read by its columns
      const rows: [why: string, code: string, input: PublishContentInput][] = [
        ['edited',            'INVALID_TOKEN', { ...input, content: edited }],
        ['another platform',  'INVALID_TOKEN', { ...input, platform: 'tiktok' }],
        ['another time',      'INVALID_TOKEN', { ...input, schedule_time: '2030-01-01T00:00:00Z' }],
        ['another owner’s',   'INVALID_TOKEN', await approve(eve.token, content)],
        ['ended',             'TOKEN_EXPIRED', stale],
      ]
      for (const [why, code, each] of rows) {
        const outcome = await publish(each)
        assert.equal(said(outcome), code, why)
        assert.ok(!JSON.stringify(outcome).includes(each.approval_token))
      }
    })
    // A desk that does not trust whoever answers.
    const desk = createHubDesk(doorOf({ key }), { hubKey: eve.key.publicKey })
    const publication = {
      content: content.content_id as never,
      bytes: canonicalDigest(content),
      platform: 'instagram',
    }
    const asked = { token: input.approval_token, publication, use: 'u' }
    const { signal } = new AbortController()
    await assert.rejects(desk.use(asked, signal), /not signed by the key/)
    const trusting = createHubDesk(doorOf({ key }), { hubKey: public_key as PublicKey })
    assert.equal((await trusting.use(asked, signal)).reviewer, 'Ada')
  })

  test('SK-10 a scheduled post waits at the hub, and no scheduler has to bring it', async () => {
    const { key, token } = await asker.newAgent()
    const content = contentOf()
    const at = new Date(clock.now() + HOUR_MS).toISOString()
    const input = { ...(await approve(token, content, { schedule_time: at })), schedule_time: at }
    await withPublishing({ hub: doorOf({ key }) }, async ({ publish, publishing }) => {
      const outcome = await publish(input)
      assert.ok(outcome.ok, JSON.stringify(outcome))
      const { post_url, published_at, scheduled_for } = outcome.output
      assert.deepEqual([published_at, Date.parse(scheduled_for ?? '')], [undefined, Date.parse(at)])
      assert.ok((await (await fetch(String(post_url))).text()).includes('Scheduled'))
      aheadMs += HOUR_MS
      assert.ok((await (await fetch(String(post_url))).text()).includes('Published'))
      const after = await publish(input)
      assert.equal(Date.parse(after.output.published_at ?? ''), Date.parse(at))
      const scheduler = startScheduler({ publishing })
      await scheduler.stop()
    })
  })

  test('SK-10 a hub that is away is an error of the network, and nothing is lost', async () => {
    const { token } = await asker.newAgent()
    const input = await approve(token, contentOf())
    const away = doorOf({ token }, 'http://127.0.0.1:1')
    const { publishing, close } = await openPublishing({ clock, hub: away })
    const { signal } = new AbortController()
    const { decodePublish } = await import('@chimera/dialects/skills/decode')
    await assert.rejects(publishing.accept(decodePublish(input), signal), /was not reached/)
    await close()
    await withPublishing({ hub: doorOf({ token }) }, async ({ publish }) => {
      assert.ok((await publish(input)).ok)
    })
  })
})

describe('publish_content without a hub', () => {
  test('SK-10 approved on this machine, in a file that outlives the process', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'chimera-outbox-'))
    try {
      let input: PublishContentInput | undefined
      let id: string | undefined
      await withPublishing({ directory }, async ({ localDesk, publish }) => {
        assert.ok(localDesk)
        input = await approvedInput(localDesk, { content: contentOf() })
        const outcome = await publish(input)
        assert.ok(outcome.ok, JSON.stringify(outcome))
        id = outcome.output.post_id
        assert.match(outcome.output.post_url ?? '', /^urn:chimera:outbox:/)
      })
      await withPublishing({ directory }, async ({ publish }) => {
        assert.ok(input)
        assert.equal((await publish(input)).output.post_id, id)
        const other = { ...input, content: { ...input.content, content_id: randomUUID() } }
        assert.equal(said(await publish(other)), 'INVALID_TOKEN')
      })
    } finally {
      await rm(directory, { recursive: true, force: true })
    }
  })
})
