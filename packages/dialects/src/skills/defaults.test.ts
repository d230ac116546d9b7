/** Defaults: published as the document has them, filled in only when asked for. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { TSchema } from 'typebox'
import { describe, test } from 'vitest'
import { checker } from '../check.ts'
import { Campaign } from './campaign.ts'
import { checkFetchTrendsInput, checkPersona } from './checks.ts'
import { withDefaults } from './defaults.ts'
import { MESSAGES } from './messages.ts'
import { Persona } from './persona.ts'
import { AgentProfile } from './profile.ts'
import * as wire from './schema.ts'

type Described = {
  readonly properties?: Readonly<Record<string, TSchema & Described>>
  readonly default?: unknown
}

/** Every default of a schema by its path, however deep. */
function defaultsOf(schema: Described, path = ''): [path: string, value: unknown][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]) => [
    ...('default' in member ? [[`${path}${name}`, member.default] as [string, unknown]] : []),
    ...defaultsOf(member, `${path}${name}.`),
  ])
}

describe('SK-1 the published defaults are the documents’', () => {
  const rules = {
    validation_rules: {},
    'validation_rules.check_offensive_language': true,
    'validation_rules.check_misinformation': true,
    'validation_rules.check_copyright': true,
    'validation_rules.check_platform_compliance': true,
  }
  const persona = {
    'content_style.emoji_usage': 'moderate',
    'content_style.hashtag_strategy': 'mix_popular_niche',
    'engagement_strategy.controversy_level': 'moderate',
    'engagement_strategy.authenticity_weight': 0.7,
  }
  const under = (prefix: string, defaults: object) =>
    Object.fromEntries(Object.entries(defaults).map(([path, value]) => [prefix + path, value]))

  // biome-ignore format: a table is read by its columns
  const rows: [name: string, schema: Described, defaults: object][] = [
    ['fetch_trends',         wire.FetchTrendsInput,        { limit: 50, timeWindow: '24h', minEngagement: 10_000 }],
    ['semantic_filter',      wire.SemanticFilterInput,     { relevance_threshold: 0.75, model: 'gemini-3-flash' }],
    ['generate_content',     wire.GenerateContentInput,    { ...under('persona.', persona), content_type: 'video_script', media_generation: true }],
    ['validate_content',     wire.ValidateContentInput,    { ...rules, ...under('context.persona.', persona) }],
    ['publish_content',      wire.PublishContentInput,     {}],
    ['get_agent_profile',    wire.GetAgentProfileInput,    {}],
    ['update_agent_state',   wire.UpdateAgentStateInput,   {}],
    ['fetch_wallet_balance', wire.FetchWalletBalanceInput, { currency: 'USDC', network: 'base' }],
    ['debit_wallet',         wire.DebitWalletInput,        { network: 'base' }],
    ['agent profile',        AgentProfile,                 { max_concurrent_tasks: 5 }],
    ['persona',              Persona,                      persona],
    ['campaign',             Campaign,                     { ...under('content_guidelines.persona.', persona), 'content_guidelines.approval_required': true }],
  ]
  for (const [name, schema, defaults] of rows) {
    test(name, () => assert.deepEqual(Object.fromEntries(defaultsOf(schema)), defaults))
  }

  test('each is legal by its own schema, and its field may be left out', () => {
    const visit = (schema: Described, required: readonly string[]) => {
      for (const [name, member] of Object.entries(schema.properties ?? {})) {
        const inner = member as Described & { required?: readonly string[] }
        if ('default' in inner) {
          assert.ok(checker(member)(inner.default).ok, name)
          assert.ok(!required.includes(name), `${name} is required`)
        }
        visit(inner, inner.required ?? [])
      }
    }
    for (const { schema } of Object.values(MESSAGES)) {
      visit(schema, (schema as { required?: readonly string[] }).required ?? [])
    }
  })
})

describe('filling in', () => {
  test('what is absent is filled in, nested too, and the types know it', () => {
    const { limit, timeWindow, minEngagement } = withDefaults(wire.FetchTrendsInput, {
      platform: 'news',
    })
    const known: [number, string, number] = [limit, timeWindow, minEngagement]
    assert.deepEqual(known, [50, '24h', 10_000])

    const network: 'mainnet' | 'base' | 'sepolia' = withDefaults(wire.FetchWalletBalanceInput, {
      wallet_address: '0x52908400098527886E0F7030069857D2E4169EE7',
    }).network
    assert.equal(network, 'base')
  })

  test('a group of switches is filled in whether it is absent or partial', () => {
    const off = { check_copyright: false }
    const content = {} as wire.ValidateContentInput['content']
    const all = withDefaults(wire.ValidateContentInput, { content })
    const some = withDefaults(wire.ValidateContentInput, { content, validation_rules: off })
    const misinformation: boolean = all.validation_rules.check_misinformation
    assert.equal(misinformation, true)
    assert.equal(all.validation_rules.check_copyright, true)
    assert.equal(some.validation_rules.check_copyright, false)
    assert.equal(some.validation_rules.check_offensive_language, true)
    assert.deepEqual(off, { check_copyright: false })
  })

  test('F1 the input is not changed, and what was given stays', () => {
    const input = Object.freeze({ platform: 'news' as const, limit: 7 })
    const filled = withDefaults(wire.FetchTrendsInput, input)
    assert.equal(filled.limit, 7)
    assert.deepEqual(input, { platform: 'news', limit: 7 })
    const empty = { content: undefined, schedule_time: null } as unknown
    const kept = withDefaults(wire.PublishContentInput, empty as wire.PublishContentInput)
    assert.equal(kept.schedule_time, null)
  })

  test('F2 filling in twice is filling in once, and copies nothing', () => {
    const some = fc.record(
      { limit: fc.nat(500), timeWindow: fc.constant('1d'), minEngagement: fc.nat() },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(some, (given) => {
        const once = withDefaults(wire.FetchTrendsInput, { platform: 'news', ...given })
        assert.equal(withDefaults(wire.FetchTrendsInput, once), once)
      }),
    )
  })

  test('checking fills in nothing', () => {
    const input = { platform: 'news' }
    assert.deepEqual(checkFetchTrendsInput(input), { ok: true, message: { platform: 'news' } })
    assert.deepEqual(Object.keys(input), ['platform'])
    assert.equal(checkPersona({}).ok, false)
  })
})
