/**
 * `chimera skill` and `chimera providers` as a person runs them: each of the ten skills with no
 * key, no hub and no settings, and then on providers of one's own.
 */
import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SKILLS } from '@chimera/dialects/skills/contracts'
import type { SkillId } from '@chimera/dialects/skills/error-codes'
import { createChance } from '@chimera/host/chance'
import { createClock } from '@chimera/host/clock'
import { createAsker } from '@chimera/hub/testing/asking'
import { runHub, type TestHub } from '@chimera/hub/testing/running'
import { createKeyFile } from '@chimera/identity/key-file'
import { generateKeyPair } from '@chimera/identity/keys'
import { SKILL_NAMES } from '@chimera/skills/catalogue'
import { exampleOf } from '@chimera/skills/examples'
import { readProviderSettings } from '@chimera/skills/providers/settings'
import { KEY, NO_CHAIN, PAYEE, startAnvil, WALLET } from '@chimera/skills/testing/anvil'
import { type ModelServer, startModelServer } from '@chimera/skills/testing/model-servers'
import { samplesOf } from '@chimera/skills/trends/samples'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { chimera, type Ran, type Surroundings, writeProject } from './command.ts'

const PATIENCE = { timeout: 180_000 }
const COUNTERPART = fileURLToPath(new URL('../../skills/test/mcp-counterpart.js', import.meta.url))

const clock = createClock()
const hands = { now: clock.now(), uuid: createChance().uuid }
let home = ''

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'chimera-skill-'))
})
afterAll(() => rm(home, { recursive: true, force: true }))

/** No key of whoever runs the tests is used by them. */
const BARE: Surroundings = {
  GEMINI_API_KEY: '',
  GOOGLE_GENERATIVE_AI_API_KEY: '',
  OPENAI_API_KEY: '',
}

const run = (words: readonly string[], input?: unknown, around: Surroundings = {}, cwd = home) =>
  chimera(
    words,
    { ...BARE, ...around },
    { cwd, ...(input !== undefined && { input: JSON.stringify(input) }) },
  )

const runSkill = (skill: SkillId, input: unknown, around?: Surroundings, cwd?: string) =>
  run(['skill', 'run', skill, '--input', '-'], input, around, cwd)

const outputOf = ({ status, out, err }: Ran): Record<string, unknown> => {
  assert.equal(status, 0, err)
  return JSON.parse(out)
}

describe('with nothing configured', PATIENCE, () => {
  /** What proves that the embedded default has said what it is. */
  const honest: Readonly<Partial<Record<SkillId, RegExp>>> = {
    fetch_trends: /#sample/,
    get_agent_profile: /"embedded": true/,
    update_agent_state: /"embedded": true/,
    register_openclaw_profile: /nobody else sees it/,
    fetch_wallet_balance: /"simulated": true/,
    debit_wallet: /"simulated": true/,
  }

  test('SK-1 each of the ten runs on its example, and says what it stands on', async () => {
    // A profile is registered before it is read. Those that share a file run one after another.
    const lanes: readonly (readonly SkillId[])[] = [
      [
        'register_openclaw_profile',
        'get_agent_profile',
        'update_agent_state',
        'fetch_wallet_balance',
        'debit_wallet',
      ],
      [
        'fetch_trends',
        'semantic_filter',
        'generate_content',
        'validate_content',
        'publish_content',
      ],
    ]
    assert.deepEqual(lanes.flat().toSorted(), SKILL_NAMES.toSorted())
    await Promise.all(
      lanes.map(async (lane) => {
        for (const skill of lane) await runExample(skill)
      }),
    )
  })

  async function runExample(skill: SkillId): Promise<void> {
    const input = exampleOf(skill, hands)
    const asked =
      skill === 'publish_content'
        ? outputOf(await run(['skill', 'approve', '--input', '-', '--reviewer', 'rita'], input))
        : input
    const ran = await runSkill(skill, asked)
    const checked = SKILLS[skill].checkOutput(outputOf(ran))
    assert.ok(checked.ok, `${skill}: ${JSON.stringify(checked)}`)
    assert.match(ran.err, /stands on the embedded default/, skill)
    assert.match(ran.out, honest[skill] ?? /./, skill)
  }

  test('state outlives the command: a post, a debit and a version are there once', async () => {
    const debit = exampleOf('debit_wallet', hands)
    const first = outputOf(await runSkill('debit_wallet', debit))
    assert.deepEqual(outputOf(await runSkill('debit_wallet', debit)), first)
    const update = { ...exampleOf('update_agent_state', hands), expected_version: 1 }
    const old = await runSkill('update_agent_state', update)
    assert.equal(old.status, 1)
    assert.match(old.err, /CONCURRENCY_ERROR[\s\S]*expected_version/)
    const files = await readdir(join(home, '.chimera', 'skills'))
    assert.ok(files.includes('purses.jsonl') && files.includes('publications.jsonl'))
    assert.ok(
      files.every((file) => !file.endsWith('.lock')),
      files.join(),
    )
  })

  test('P-5 content that was changed after its approval is not published', async () => {
    const input = { ...exampleOf('publish_content', hands), platform: 'instagram' }
    const approved = outputOf(await run(['skill', 'approve', '--input', '-'], input))
    const script = `${input.content.script} One more word.`
    const edited = { ...approved, content: { ...input.content, script } }
    const ran = await runSkill('publish_content', edited)
    assert.equal(ran.status, 1)
    assert.match(ran.err, /INVALID_TOKEN[\s\S]*approve it anew/)
  })

  test('words go to standard error, defaults and progress too; JSON stands alone', async () => {
    const { out, err } = await runSkill('fetch_trends', { platform: ['news', 'reddit'] })
    assert.equal(typeof JSON.parse(out).count, 'number')
    assert.match(err, /Defaults: limit = 50, timeWindow = "24h", minEngagement = 10000/)
    assert.match(err, /100 % {2}(news|reddit)/)
    const whole = await run([
      'skill',
      'run',
      'fetch_trends',
      '--quiet',
      '--json',
      '--input',
      '{"platform":"news","limit":1}',
    ])
    assert.equal(whole.err, '')
    const { ok, skill, output, stands_on } = outputOf(whole)
    assert.deepEqual(
      [ok, skill, Object(output).count, Object(stands_on).embedded],
      [true, 'fetch_trends@v1.0', 1, true],
    )
  })

  test('an input that makes no sense is told by its fields, with what to do next', async () => {
    const ran = await runSkill('update_agent_state', {
      agent_id: 'x',
      state_updates: { status: 'asleep' },
    })
    assert.equal(ran.status, 2)
    assert.equal(ran.out, '')
    assert.match(ran.err, /\/state_updates\/status: expected one of active, busy, paused, error/)
    assert.match(ran.err, /chimera skill example update_agent_state/)
    const missing = await run(['skill', 'run', 'fetch_trends', '--input', 'nowhere.json'])
    assert.equal(missing.status, 2)
    assert.match(missing.err, /nowhere\.json/)
  })

  test('list, show and check tell what is there', async () => {
    const [list, show, check] = await Promise.all([
      run(['skill', 'list', '--json']),
      run(['skill', 'show', 'fetch_trends']),
      run(['providers', 'check', '--json']),
    ])
    const skills = Object(outputOf(list)).skills as { skill: string; embedded: boolean }[]
    assert.deepEqual(
      skills.map(({ skill }) => skill),
      SKILL_NAMES,
    )
    assert.ok(skills.every(({ embedded }) => embedded))
    for (const said of [/limit +whole number +1 to 500 +50/, /PLATFORM_UNAVAILABLE +503/, /30 s/]) {
      assert.match(show.out, said)
    }
    const { ok, findings } = outputOf(check)
    assert.equal(ok, true)
    assert.ok((findings as { state: string }[]).every(({ state }) => state === 'embedded'))
  })
})

const WRITTEN = {
  hook: 'The old warehouses open their doors.',
  body: [
    'There will be room to read, to build and to meet.',
    'Our neighbours have asked for such a place for years.',
    'Some will come for the quiet, and some for the view.',
    'It costs nothing to come in.',
    'The doors stay open until late.',
  ],
  closing: 'Tell us what you would put inside.',
  caption: 'A free place to meet, by the water, for all of us.',
  hashtags: ['#harbour', '#library', '#reading'],
  alt: 'A brick warehouse with lit windows at the water.',
}

describe('with providers of one’s own', PATIENCE, () => {
  const SECRET = 'model-key-0123456789'
  let hub: TestHub
  let models: ModelServer
  let project = ''
  let around: Surroundings = {}

  beforeAll(async () => {
    project = join(home, 'project')
    models = await startModelServer(({ user, schema }) => ({
      say: answerTo(user, JSON.stringify(schema)),
    }))
    hub = await runHub({ auth: 'required', clock })
    const { token } = await createAsker(hub, clock).newOwner()
    around = { MODEL_KEY: SECRET, OWNER_TOKEN: token }
    const script = JSON.stringify({
      resources: { 'news://trends': JSON.stringify(samplesOf('news', clock.now())) },
    })
    await writeProject(project, { 'package.json': '{ "type": "module" }' })
    await createKeyFile(join(project, 'agent.json'), generateKeyPair())
    await writeFile(
      join(project, 'chimera.config.ts'),
      `import { defineConfig } from '@chimera/skills/config'

const node: string = ${JSON.stringify(process.execPath)}
export default defineConfig({
  providers: {
    allowNet: ['localhost'],
    mcp: { desk: { command: node, args: ${JSON.stringify([COUNTERPART, script])} } },
    trends: { news: [{ server: 'desk' }] },
    models: [
      {
        name: 'mine', kind: 'compatible', url: ${JSON.stringify(models.url)},
        key: { env: 'MODEL_KEY' }, price: { input: 1, output: 2 },
      },
    ],
    publish: { twitter: { server: 'desk', tool: 'post', find: 'find_post' } },
    hub: { url: ${JSON.stringify(hub.address)}, token: { env: 'OWNER_TOKEN' }, key: 'agent.json' },
  },
})
`,
    )
  }, PATIENCE.timeout)
  afterAll(async () => {
    await models?.close()
    await hub?.stop()
  })

  const inProject = (skill: SkillId, input: unknown) => runSkill(skill, input, around, project)

  /** As much of a model as is asked here, told by the shape that is asked for. */
  function answerTo(user: string, schema: string): unknown {
    if (schema.includes('"hook"')) return WRITTEN
    if (schema.includes('"doubts"')) return { doubts: [] }
    if (!schema.includes('"scores"')) return { ok: true }
    const numbers = [...user.matchAll(/"n":(\d+)/g)].map(([, n]) => Number(n))
    return { scores: numbers.map((n) => ({ n, score: 0.9, why: 'It says so.' })) }
  }

  test('check tries each, and says what works and what it costs', async () => {
    const ran = await run(['providers', 'check', '--json'], undefined, around, project)
    const { ok, config, findings } = outputOf(ran)
    const states = Object.fromEntries(
      (findings as { what: string; state: string }[]).map(({ what, state }) => [what, state]),
    )
    assert.deepEqual([ok, config], [true, 'chimera.config.ts'])
    for (const what of ['MCP desk', 'trends news from desk', 'model mine', 'hub']) {
      assert.equal(states[what], 'works', what)
    }
    assert.equal(states.wallet, 'embedded')
    assert.match(ran.out, /\$1 in, \$2 out for a million tokens; this question \$0\.0012/)
    assert.ok(!`${ran.out}${ran.err}`.includes(SECRET), 'X-5')
  })

  test('trends come from the server, scores from the model, and both are said', async () => {
    const trends = await inProject('fetch_trends', { platform: 'news', limit: 3 })
    assert.equal(outputOf(trends).count, 3)
    assert.match(trends.err, /stands on news: MCP desk/)
    const filter = await inProject('semantic_filter', {
      ...exampleOf('semantic_filter', hands),
      relevance_threshold: 0.8,
    })
    assert.equal(outputOf(filter).total_output, 8)
    assert.match(filter.err, /stands on model mine[\s\S]*1 answers? of models, \$0\.0012/)
    assert.ok(models.seen.every(({ headers }) => headers.authorization === `Bearer ${SECRET}`))
  })

  test('a model writes and judges, and is named in what it wrote', async () => {
    const brief = exampleOf('generate_content', hands)
    const written = outputOf(await inProject('generate_content', brief))
    assert.equal(written.model_used, 'mine')
    const judged = await inProject('validate_content', exampleOf('validate_content', hands))
    assert.equal(outputOf(judged).valid, true)
    assert.match(judged.err, /stands on rules; model mine[\s\S]*1 answers? of models/)
  })

  test('SK-10 the hub approves, and the tool of the platform publishes', async () => {
    const words = ['skill', 'approve', '--input', '-', '--reviewer', 'rita']
    const input = exampleOf('publish_content', hands)
    const approved = await run(words, input, around, project)
    assert.match(approved.err, new RegExp(`rita approves it .* ${hub.address}`))
    const posted = outputOf(await inProject('publish_content', outputOf(approved)))
    assert.match(String(posted.post_url), /^https:\/\/social\.example\/post-1$/)
  })

  // There is no binary of the chain for every platform.
  test.skipIf(NO_CHAIN !== undefined)('SK-13 SK-14 a debit is on a chain, once', async () => {
    const chain = await startAnvil({ chain: 8_453 })
    try {
      const wallet = {
        rpc: { base: [chain.url] },
        payee: PAYEE,
        key: { env: 'WALLET_KEY' },
        confirmations: 1,
      }
      const file = join(project, 'wallet.json')
      await writeFile(file, JSON.stringify({ providers: { allowNet: ['localhost'], wallet } }))
      const paying = { WALLET_KEY: KEY }
      const pay = (skill: SkillId, input: object) =>
        run(['skill', 'run', skill, '--input', '-', '--config', file], input, paying, project)
      const asked = { wallet_address: WALLET, currency: 'BASE' as const }
      const debit = { ...exampleOf('debit_wallet', hands), ...asked, amount: 0.5 }
      const first = await pay('debit_wallet', debit)
      assert.match(String(outputOf(first).tx_id), /^0x[0-9a-f]{64}$/)
      assert.equal(outputOf(await pay('debit_wallet', debit)).tx_id, outputOf(first).tx_id)
      const { balance, simulated } = outputOf(await pay('fetch_wallet_balance', asked))
      assert.ok(Number(balance) < 9_999.5 && Number(balance) > 9_999.4, String(balance))
      assert.equal(simulated, undefined)
      assert.ok(!`${first.out}${first.err}`.includes(KEY.slice(2)), 'X-5')
    } finally {
      await chain.stop()
    }
  })

  test('SK-15 SK-11 a profile is registered at the hub, signed, and read from there', async () => {
    const profile = exampleOf('register_openclaw_profile', hands)
    const registered = outputOf(await inProject('register_openclaw_profile', profile))
    assert.equal(registered.registered, true)
    assert.match(String(registered.profile_url), new RegExp(`^${hub.address}/openclaw/`))
    const { agent_id } = profile.agent_profile
    const read = outputOf(await inProject('get_agent_profile', { agent_id }))
    assert.deepEqual([read.name, read.embedded], ['Example watcher', undefined])
  })

  test('what does not work is told, with what stands in, and the rest goes on', async () => {
    const file = join(project, 'broken.mjs')
    const broken = {
      providers: {
        models: [{ name: 'away', kind: 'openai', url: 'http://127.0.0.1:9/v1' }],
        mcp: { gone: { url: 'http://127.0.0.1:9/mcp' } },
      },
    }
    await writeFile(file, `export default ${JSON.stringify(broken)}`)
    const check = await run(['providers', 'check', '--config', file], undefined, around, project)
    assert.equal(check.status, 1)
    assert.match(check.out, /model away +fails/)
    assert.match(check.out, /MCP gone +fails/)
    assert.match(check.err, /model away: .*stands? in/)
    assert.match(check.err, /allowNet/)
  })

  test('settings that make no sense are told by their fields, and a secret never', async () => {
    const file = join(project, 'wrong.json')
    const key = 'sk-secret-secret-secret'
    const wrong = { providers: { models: [{ name: 'x', kind: 'openai', key }], modles: [] } }
    await writeFile(file, JSON.stringify(wrong))
    const ran = await run(['skill', 'list', '--config', file], undefined, around, project)
    assert.equal(ran.status, 2)
    assert.match(ran.err, /providers\.models\.0\.key: expected an object/)
    assert.match(ran.err, /providers\.modles: expected no field of this name/)
    assert.ok(!ran.err.includes(key), 'X-5')
  })

  test('the examples of docs/concepts/providers.md are settings that are taken', async () => {
    const path = new URL('../../../docs/concepts/providers.md', import.meta.url)
    const page = await readFile(path, 'utf8')
    const file = join(project, 'page.ts')
    await writeFile(file, /```ts\n(import \{ defineConfig[\s\S]*?)```/.exec(page)?.[1] ?? '')
    const ran = await run(['skill', 'list', '--json', '--config', file], undefined, {}, project)
    const skills = Object(outputOf(ran)).skills as { embedded: boolean }[]
    assert.ok(skills.every(({ embedded }) => !embedded))
    const [, json = ''] = /```json\n([\s\S]*?)```/.exec(page) ?? []
    assert.ok(readProviderSettings(JSON.parse(json).providers).feeds)
  })
})
