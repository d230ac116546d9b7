/**
 * The first quarter of an hour of a stranger who has a feed: `chimera init`, one command, a text
 * that waits; Ctrl-C, and everything is still there; an approval, a post.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CampaignSeen, ReviewSeen } from '@chimera/dialects/chimera'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { chimera, type Going, startChimera } from './command.ts'

let cwd: string
let up: Going
let address: string

const TITLE = 'The library of the old harbour opens its reading garden to all neighbours'
const feed = createServer((_, reply) => {
  const now = new Date().toUTCString()
  reply.setHeader('content-type', 'application/rss+xml').end(`<?xml version="1.0"?>
<rss version="2.0" xmlns:slash="http://purl.org/rss/1.0/modules/slash/"><channel>
<title>Town</title><link>https://www.example.org/</link><description>News</description>
<item><title>${TITLE}</title><link>https://www.example.org/1</link><guid>1</guid>
<description>A public library and its garden, with a park beside it.</description>
<pubDate>${now}</pubDate><slash:comments>5000</slash:comments></item>
</channel></rss>`)
})

const start = async (): Promise<void> => {
  up = startChimera(['up', '--listen', '127.0.0.1:0'], {}, cwd)
  const [, where = ''] = await up.says(/Chimera is up: (http:\/\/[\d.:]+)/)
  address = where
  await up.says(/Ctrl-C stops/)
}
const json = async (...words: readonly string[]) => {
  const ran = await chimera([...words, '--json'], {}, { cwd })
  assert.equal(ran.status, 0, ran.err)
  return JSON.parse(ran.out)
}
async function until<Found>(look: () => Promise<Found | undefined>): Promise<Found> {
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
  }
}
const campaigns = async (): Promise<readonly CampaignSeen[]> =>
  (await json('campaign', 'list')).campaigns
const waiting = (): Promise<ReviewSeen> =>
  until(async () => {
    const [first]: readonly ReviewSeen[] = (await json('review', 'list')).reviews
    return first
  })

/** As somebody would who has a feed on this machine. */
async function configure(): Promise<void> {
  feed.listen(0, '127.0.0.1')
  await once(feed, 'listening')
  const { port } = feed.address() as AddressInfo
  const { files } = await json('init')
  assert.deepEqual(files, ['chimera.config.ts', 'campaign.yaml', 'harbour-voice.yaml'])
  const file = join(cwd, 'chimera.config.ts')
  const template = await readFile(file, 'utf8')
  const edited = template
    .replace(/^( +)\/\/ (allowNet: .*)$/m, '$1$2')
    .replace(/^( +)\/\/ (feeds: \[)[\s\S]*?\/\/ (\],)$/m, (_, indent, opening, closing) =>
      ['news', 'reddit', 'twitter']
        .map((platform) => `{ platform: '${platform}', url: 'http://127.0.0.1:${port}/' },`)
        .reduce((text, line) => `${text}\n${indent}  ${line}`, `${indent}${opening}`)
        .concat(`\n${indent}${closing}`),
    )
  await writeFile(file, edited)
}

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'chimera-up-'))
  await configure()
  await start()
}, 180_000)

afterAll(async () => {
  up?.signal('SIGINT')
  await up?.ended
  feed.close()
  await rm(cwd, { recursive: true, force: true })
}, 60_000)

describe('chimera up', { timeout: 180_000 }, () => {
  test('a text from the feed of chimera.config.ts waits for a person', async () => {
    await up.says(/Its skills stand on what chimera\.config\.ts says\./)
    const review = await waiting()
    const shown = await chimera(['review', 'show', review.review_id.slice(0, 8)], {}, { cwd })
    assert.match(shown.out, /confidence/)
    assert.ok(JSON.stringify(await campaigns()).includes(TITLE))
    assert.doesNotMatch(shown.out, /#sample/)
  })

  test('a second one in this folder says where the first is, and --fresh spares it', async () => {
    const [second, fresh] = await Promise.all([
      chimera(['up', '--listen', '127.0.0.1:0'], {}, { cwd }),
      chimera(['up', '--fresh'], {}, { cwd }),
    ])
    for (const { status, err } of [second, fresh]) {
      assert.equal(status, 1)
      assert.ok(err.includes(`Chimera is up already in .chimera/up: ${address}\n`), err)
    }
  })

  test('stopped by Ctrl-C while it waits and started again, it waits still', async () => {
    const before = await campaigns()
    up.signal('SIGINT')
    const { status, err } = await up.ended
    assert.equal(status, 0, err)
    assert.match(err, /Stopping: work under way may end\. Ctrl-C again ends it at once\.\n$/)
    await start()
    const after = await campaigns()
    assert.deepEqual(after.map(piecesOf), before.map(piecesOf))
  })

  test('SK-16 it is approved in the terminal, published and paid', async () => {
    const review = await waiting()
    const yes = ['review', 'approve', review.review_id.slice(0, 8), '--reviewer', 'Ada']
    const approved = await chimera(yes, {}, { cwd })
    assert.equal(approved.status, 0, approved.err)
    assert.match(approved.err, /it will be published on twitter/)

    const [campaign] = await until(async () => {
      const all = await campaigns()
      return all.every(({ status }) => status === 'completed') ? all : undefined
    })
    const url = campaign?.pieces.find(({ post_url }) => post_url)?.post_url ?? ''
    assert.match(await (await fetch(url)).text(), /Ada/)
    const listed = await chimera(['campaign', 'show', campaign?.campaign_id ?? ''], {}, { cwd })
    assert.match(listed.out, /publish_content\s+done/)
  })

  test('its own sentences tell what is wrong', async () => {
    const [unknown, wordless, elsewhere] = await Promise.all([
      chimera(['review', 'show', 'ffffffff'], {}, { cwd }),
      chimera(['review', 'reject', 'ffffffff'], {}, { cwd }),
      // A hub that is named is meant, and hears no token of this folder.
      chimera(['review', 'list', '--hub', address], {}, { cwd }),
    ])
    assert.deepEqual([unknown.status, unknown.err.trim()], [1, 'No review is known under this id.'])
    assert.equal(wordless.status, 2)
    assert.match(elsewhere.err, /present a token/)
  })
})

/** What stays as it is over a stop. */
const piecesOf = ({ campaign_id, pieces }: CampaignSeen) => ({
  campaign_id,
  pieces: pieces.map(({ topic, moments }) => [topic, moments.map(({ state }) => state)]),
})
