/** The settings of the providers: one row, one mistake, told by its field. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { withEnvironment } from './environment.ts'
import { describeIssue, ProvidersWrong, readProviderSettings } from './settings.ts'

const KEY = { env: 'GEMINI_API_KEY' }
const GOOD = {
  allowNet: ['localhost', '10.0.0.0/8'],
  mcp: {
    news: { command: 'npx', args: ['some-server'], env: ['NEWS_TOKEN'] },
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as settings name a variable
    media: { url: 'https://mcp.example.org/${PLACE}', headers: { authorization: '${TOKEN}' } },
  },
  trends: { news: [{ server: 'news' }, { server: 'media', resource: 'news://all' }] },
  feeds: [{ platform: 'reddit', url: 'https://www.example.org/r/all.rss' }],
  perHour: 50,
  models: [
    { name: 'gemini-3-flash', kind: 'google', key: KEY },
    { name: 'mine', kind: 'compatible', url: 'http://127.0.0.1:8080/v1' },
  ],
  media: { server: 'media', image: 'ideogram' },
  wallet: {
    rpc: { base: ['https://node.example.org'], sepolia: { env: 'SEPOLIA_NODE' } },
    payee: `0x${'1'.repeat(40)}`,
    key: { file: 'wallet.key' },
  },
  publish: { twitter: { server: 'media', tool: 'post_tweet' } },
  hub: { url: 'http://127.0.0.1:4600', token: { env: 'CHIMERA_TOKEN' }, key: 'agent.json' },
}

test('nothing is good settings, and so is everything', () => {
  assert.deepEqual(readProviderSettings({}), {})
  assert.deepEqual(readProviderSettings(GOOD), GOOD)
})

// biome-ignore format: a table is read by its columns
const rows: [why: string, settings: object, said: string][] = [
  ['a name that nobody reads',   { modles: [] },                                            'providers.modles: expected no field of this name'],
  ['a platform of no name',      { trends: { mastodon: [] } },                              'providers.trends.mastodon: expected no field of this name'],
  ['a kind of no name',          { models: [{ name: 'x', kind: 'anthropic', key: KEY }] },  'providers.models.0.kind: expected one of google, openai, compatible'],
  ['a key itself',               { models: [{ name: 'x', kind: 'openai', key: 'sk-123' }] }, 'providers.models.0.key: expected an object'],
  ['no key and no address',      { models: [{ name: 'x', kind: 'openai' }] },               'providers.models.0.key: expected { env } or { file }'],
  ['compatible with nothing',    { models: [{ name: 'x', kind: 'compatible', key: KEY }] }, 'providers.models.0.url: expected the base address'],
  ['one name for two',           { models: [GOOD.models[0], GOOD.models[0]] },              'providers.models.1.name: expected a name that no other'],
  ['a server of no name',        { media: { server: 'studio' } },                           'providers.media.server: expected a server of providers.mcp (none); came studio'],
  ['trends of no server',        { mcp: GOOD.mcp, trends: { news: [{ server: 'x' }] } },    'providers.trends.news.0.server: expected a server of providers.mcp (news, media)'],
  ['a server of two kinds',      { mcp: { a: { command: 'x', url: 'http://x' } } },         'providers.mcp.a: expected a command or a url; came both'],
  ['a server of no kind',        { mcp: { a: {} } },                                        'providers.mcp.a: expected a command or a url; came neither'],
  ['headers for a command',      { mcp: { a: { command: 'x', headers: {} } } },             'providers.mcp.a.headers: expected only with a url'],
  ['a name with a blank',        { mcp: { 'a b': { command: 'x' } } },                      'providers.mcp.a b: expected no field of this name'],
  ['a file for an address',      { hub: { url: 'file:///etc/passwd' } },                    'providers.hub.url: expected an http or https address'],
  ['a feed of no platform',      { feeds: [{ url: 'https://example.org/rss' }] },           'providers.feeds.0.platform: expected to be present'],
  ['a payee of no chain',        { wallet: { payee: GOOD.wallet.payee } },                  'providers.wallet.rpc: expected to be there'],
  ['a key for nobody',           { wallet: { ...GOOD.wallet, payee: undefined } },          'providers.wallet.payee: expected to be there'],
  ['a start on a chain',         { wallet: { rpc: GOOD.wallet.rpc, start: { USDC: '1' } } }, 'providers.wallet.start: expected only without rpc'],
  ['a rounded start',            { wallet: { start: { USDC: 0.1 } } },                      'providers.wallet.start.USDC: expected a string'],
  ['a network of no block',      { allowNet: ['everywhere'] },                              'providers.allowNet.0: expected an IP address'],
]

describe('a mistake is told by its field', () => {
  for (const [why, settings, said] of rows) {
    test(why, () => {
      const wrong = (() => {
        try {
          return void readProviderSettings(JSON.parse(JSON.stringify(settings)))
        } catch (error) {
          return error
        }
      })()
      assert.ok(wrong instanceof ProvidersWrong, 'it was taken')
      const told = wrong.issues.map(describeIssue)
      assert.ok(
        told.some((line) => line.startsWith(said)),
        told.join('\n'),
      )
      assert.ok(!told.join('').includes('sk-123'), 'X-5 no value is repeated')
    })
  }
})

describe('variables', () => {
  const models = (env: Record<string, string>) =>
    withEnvironment({}, env).models?.map(({ name }) => name)

  test('are the usual ones, in an order of preference, and only where nothing is said', () => {
    assert.deepEqual(withEnvironment({}, {}), {})
    assert.deepEqual(models({ OPENAI_API_KEY: 'b', GEMINI_API_KEY: 'a' }), [
      'gemini-3-flash',
      'gpt-4o-mini',
    ])
    assert.deepEqual(
      models({ OPENAI_API_KEY: 'b', CHIMERA_MODEL_URL: 'http://x', CHIMERA_MODEL: 'm' }),
      ['m', 'gpt-4o-mini'],
    )
    const said = { models: [] }
    assert.deepEqual(withEnvironment(said, { OPENAI_API_KEY: 'b' }), said)
  })

  test('never put a secret into the settings', () => {
    const env = {
      OPENAI_API_KEY: 'secret-1',
      CHIMERA_HUB: 'http://127.0.0.1:4600',
      CHIMERA_TOKEN: 'secret-2',
      CHIMERA_WALLET_RPC_BASE: 'http://127.0.0.1:8545',
      CHIMERA_WALLET_PAYEE: GOOD.wallet.payee,
      CHIMERA_WALLET_KEY: 'secret-3',
    }
    const settings = readProviderSettings(withEnvironment({}, env))
    assert.ok(!JSON.stringify(settings).includes('secret-'), 'X-5')
    assert.deepEqual(settings.hub?.token, { env: 'CHIMERA_TOKEN' })
  })
})
