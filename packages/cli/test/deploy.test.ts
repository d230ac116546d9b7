/**
 * The files of deploy/ and the page about them: the compose file is sound, and what it describes
 * runs, command by command with the secrets that the page makes, on a real PostgreSQL and NATS; the
 * units close in what they start.
 */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type NatsServer, startNats } from '@chimera/bus/testing/nats-server'
import { ROLES } from '@chimera/fleet/roles'
import { variableOf } from '@chimera/host/settings/declare'
import { HUB_SETTINGS } from '@chimera/hub/settings'
import { type PostgresServer, startPostgres } from '@chimera/store/testing/postgres-server'
import { afterAll, beforeAll, describe, test, vi } from 'vitest'
import { chimera, type Going, MAIN, startChimera } from './command.ts'
import { type Compose, readCompose, type Service } from './compose.ts'
import { headingsOf, linksOf } from './page.ts'
import { problemsOf, readUnit, variablesOf } from './unit.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const DEPLOY = join(ROOT, 'deploy')
const PAGE = readFileSync(join(ROOT, 'docs/operate/deploy.md'), 'utf8')
const text = readFileSync(join(DEPLOY, 'compose.yaml'), 'utf8')
const LONG = { timeout: 300_000 }
const INPUT = JSON.stringify({ platform: 'news', limit: 3 })

const VARIABLES = new Set(
  Object.entries(HUB_SETTINGS).map(([name, setting]) => variableOf(name, setting)),
)
/** Of these the command line reads its own. */
const OTHERS = ['NODE_ENV', 'CHIMERA_TOKEN_FILE']

test.each(['README.md', 'tutorial.md', 'operate/deploy.md'])('%s leads somewhere', (name) => {
  const file = join(ROOT, 'docs', name)
  const links = linksOf(readFileSync(file, 'utf8'))
  assert.ok(links.length > 5)
  for (const { to, heading } of links) {
    const target = to === '' ? file : join(dirname(file), to)
    assert.ok(existsSync(target), to)
    if (heading === '') continue
    assert.ok(headingsOf(readFileSync(target, 'utf8')).includes(heading), `${to}#${heading}`)
  }
})

describe('the compose file', () => {
  test('is sound, and every setting in it is one', () => {
    const { problems, services } = readCompose(text)
    assert.deepEqual(problems, [])
    assert.deepEqual([...services.keys()], ['postgres', 'nats', 'hub-1', 'hub-2', 'fleet'])
    for (const name of ['hub-1', 'hub-2']) {
      const variables = Object.keys(services.get(name)?.environment ?? {})
      assert.deepEqual(
        variables.filter((each) => !VARIABLES.has(each)),
        [],
      )
    }
  })

  // biome-ignore format: a table is read by its columns
  const WRONG: readonly (readonly [what: string, from: string | RegExp, to: string, problem: RegExp])[] = [
    ['a word that is none',         'restart: unless-stopped', 'restrt: always',           /services\.\S+\.restrt/],
    ['a port for everybody',        '127.0.0.1:4601:4600',     '4601:4600',                /hub-1\.ports/],
    ['an image without a version',  'nats:2.11-alpine',        'nats:latest',              /nats\.image/],
    ['a secret that is none',       'secrets: [owner_token]',  'secrets: [token]',         /fleet: no secret token/],
    ['a secret that is not given',  '[settings, hub_key,',     '[settings,',               /hub-1: not given hub_key/],
    ['a secret that nobody has',    /secrets: \[postgres.*/,   'restart: always',          /secrets\.postgres_password/],
    ['a password in the open',      'nats://nats:4222',        'nats://hub:pass@nats:4222', /hub-1: a password/],
    ['a volume that is none',       'fleet:/data',             'other:/data',              /fleet: no volume other/],
    ['waiting for nobody',          'postgres: { condition',   'pg: { condition',          /nobody sees that pg/],
    ['a span without a unit',       'stop_grace_period: 15s',  'stop_grace_period: 15',    /hub-1\.stop_grace_period/],
    ['no shell around a check',     "test: ['CMD', 'wget'",    "test: ['wget'",            /nats\.healthcheck/],
    ['the same word twice',         'read_only: true',         'read_only: true\n  read_only: true', /unique/],
  ]
  test.each(WRONG)('%s is a problem', (_, from, to, problem) => {
    const changed = text.replace(from, to)
    assert.notEqual(changed, text)
    assert.match(readCompose(changed).problems.join('\n'), problem)
  })

  test('the image is what a hub needs, and nobody with privileges', () => {
    const dockerfile = readFileSync(join(DEPLOY, 'Dockerfile'), 'utf8')
    const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base)
    assert.equal(bases.length, 2)
    assert.match(bases[0] ?? '', /^node:(2[0-9])-bookworm-slim$/)
    assert.equal(bases[1], bases[0], 'what was installed for one Node runs on it')
    assert.match(dockerfile, /^USER node\n(?![\s\S]*^USER)/m)
    const [, program = ''] = /^ENTRYPOINT .*"\/app\/(\S+)"\]$/m.exec(dockerfile) ?? []
    assert.ok(existsSync(join(ROOT, program)), program)
    const ignored = readFileSync(join(DEPLOY, 'Dockerfile.dockerignore'), 'utf8').split('\n')
    for (const each of ['deploy/secrets', '.git', '**/node_modules', '*.token', '**/.chimera']) {
      assert.ok(ignored.includes(each), each)
    }
  })
})

describe('the units', () => {
  const UNITS = readdirSync(DEPLOY).filter((name) => name.endsWith('.service'))
  const DROP_IN = 'chimera-hub.service.d/cluster.conf'

  test.each(UNITS)('%s closes in what it starts', (name) => {
    const unit = readUnit(readFileSync(join(DEPLOY, name), 'utf8'))
    assert.deepEqual(problemsOf(unit), [])
    for (const variable of variablesOf(unit).keys()) {
      assert.ok(VARIABLES.has(variable) || OTHERS.includes(variable), variable)
    }
  })

  test('what hubs share is given to them, and named', () => {
    const unit = readUnit(readFileSync(join(DEPLOY, DROP_IN), 'utf8'))
    const given = (unit.get('Service.LoadCredential') ?? []).map((each) => each.split(':')[0])
    for (const [variable, value] of variablesOf(unit)) {
      assert.ok(VARIABLES.has(variable), variable)
      const [, file] = /^%d\/(.+)$/.exec(value) ?? []
      if (file !== undefined) assert.ok(given.includes(file), file)
    }
  })

  const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0
  // Only Linux has it; the table above looks at the same lines everywhere.
  test.runIf(hasSystemd)('systemd finds nothing wrong, and little that is open', async () => {
    const home = await mkdtemp(join(tmpdir(), 'chimera-units-'))
    try {
      await cp(DEPLOY, home, { recursive: true, filter: (path) => !path.includes('secrets') })
      const units = UNITS.map((name) => join(home, name))
      for (const unit of units) {
        // Node is elsewhere on some machines, and the program on most.
        const here = (await readFile(unit, 'utf8')).replaceAll('/usr/bin/node', process.execPath)
        await writeFile(unit, here)
      }
      const verified = spawnSync('systemd-analyze', ['verify', ...units], { encoding: 'utf8' })
      assert.deepEqual([verified.status, verified.stderr], [0, ''])
      for (const unit of units.filter((each) => !each.includes('@'))) {
        // Tenths of ten points; below 2 is what systemd calls OK.
        const judged = ['security', '--offline=yes', '--threshold=20', unit]
        const { status, stdout } = spawnSync('systemd-analyze', judged, { encoding: 'utf8' })
        assert.equal(status, 0, stdout)
      }
    } finally {
      await rm(home, { recursive: true, force: true })
    }
  })
})

describe('what it describes', LONG, () => {
  let home = ''
  let postgres: PostgresServer
  let broker: NatsServer
  const compose: Compose = readCompose(text)
  const running: Going[] = []
  /** What a name of the compose file is on this machine. */
  const here = new Map<string, string>()

  const local = (said: string): string =>
    [...here].reduce((words, [from, to]) => words.replaceAll(from, to), said)
  const service = (name: string): Service => compose.services.get(name) ?? assert.fail(name)

  /** A block of the page, typed in a clone: `npm start` is the command line as it was built. */
  async function typed(begins: string): Promise<void> {
    const blocks = [...PAGE.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block)
    const block = blocks.find((each) => each.startsWith(begins)) ?? assert.fail(begins)
    const path = [join(home, 'bin'), process.env.PATH].join(delimiter)
    const env = { ...process.env, PATH: path }
    await promisify(execFile)('sh', ['-e', '-c', local(block)], { cwd: home, env })
  }

  /** As Compose would, but for the names of machines. */
  function start(name: string): Going {
    const { command, environment } = service(name)
    const variables = Object.entries(environment).map(([key, value]) => [key, local(value)])
    const going = startChimera(
      command.map(local),
      Object.fromEntries(variables),
      join(home, 'nowhere'),
    )
    running.push(going)
    return going
  }

  async function isHealthy(name: string, from: string, to: string): Promise<void> {
    const [node, ...words] = service(name).health
    assert.equal(node, 'node')
    await promisify(execFile)(
      process.execPath,
      words.map((word) => word.replace(from, to)),
    )
  }

  async function giveSecrets(): Promise<void> {
    await mkdir(join(home, 'run'), { recursive: true })
    for (const [name, file] of compose.secrets) {
      const made = join(home, 'deploy', file)
      if (!existsSync(made)) continue
      await writeFile(join(home, 'run', name), local(await readFile(made, 'utf8')), { mode: 0o600 })
    }
  }

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'chimera-deploy-'))
    for (const each of ['bin', 'deploy', 'nowhere']) await mkdir(join(home, each))
    const npm = `#!/bin/sh\nshift 2\nexec '${process.execPath}' '${MAIN}' "$@"\n`
    await writeFile(join(home, 'bin/npm'), npm)
    await chmod(join(home, 'bin/npm'), 0o755)
    const [started] = await Promise.all([startPostgres(), typed('umask 077')])
    postgres = started
    const authority = join(home, 'deploy/secrets/broker/nats.conf')
    broker = await startNats({ config: () => readFile(authority, 'utf8') })
    const database = new URL(await postgres.newAddress())
    here.set('postgres:5432/chimera', `${database.host}${database.pathname}`)
    here.set('nats://nats:4222', broker.address)
    here.set('0.0.0.0:4600', '127.0.0.1:0')
    here.set('fleet:4700', '127.0.0.1:0')
    here.set('10.77.0.0/24', '127.0.0.0/8')
    here.set('/run/secrets', join(home, 'run'))
    here.set('/data', join(home, 'data'))
  }, LONG.timeout)
  afterAll(async () => {
    for (const each of running.toReversed()) {
      each.signal('SIGKILL')
      await each.ended
    }
    await Promise.all([postgres?.stop(), broker?.stop()])
    await rm(home, { recursive: true, force: true })
  }, LONG.timeout)

  test('the broker takes its configuration, with what the page makes', async () => {
    await cp(join(DEPLOY, 'nats.conf'), join(home, 'nats/server.conf'))
    const authority = join(home, 'nats/nats-authority.conf')
    await cp(join(home, 'deploy/secrets/broker/nats.conf'), authority)
    const [flag = '', file = ''] = service('nats').command
    assert.equal(flag, '-c')
    assert.ok(text.includes(`./nats.conf:${file}:ro`))
    assert.ok(text.includes(`./secrets/broker/nats.conf:${dirname(file)}/nats-authority.conf:ro`))
    const env = { ...process.env, PATH: [process.env.PATH, '/usr/sbin'].join(delimiter) }
    const looked = spawnSync('nats-server', ['-t', '-c', join(home, 'nats/server.conf')], { env })
    assert.equal(looked.status, 0, String(looked.stderr))
  })

  test('two hubs that start at once, an owner, and a fleet that both find', async () => {
    await giveSecrets()
    const hubs = [start('hub-1'), start('hub-2')]
    const addresses = await Promise.all(
      hubs.map(async (hub) => (await hub.says(/ready on (http:\S+)/))[1] ?? ''),
    )
    const shown = hubs.map(async (hub) => (await hub.says(/^(chm_operator_\S+)$/m))[1] ?? '')
    const operator = await Promise.any(shown)
    const [first = '', second = ''] = addresses
    for (const [at, address] of addresses.entries()) {
      await isHealthy(`hub-${at + 1}`, 'http://127.0.0.1:4600', address)
    }
    await writeFile(join(home, 'deploy/secrets/operator.token'), `${operator}\n`)
    here.set('http://127.0.0.1:4601', first)
    here.set('http://hub:4600', first)
    await typed('npm start -- owner add')

    await giveSecrets()
    const fleet = start('fleet')
    const [, agent = ''] = await fleet.says(/trend-analyst is at work on (http:\S+)/)
    await fleet.says(/The fleet is at work at the hub/)
    await isHealthy('fleet', 'http://fleet:4700', agent)
    await vi.waitFor(async () => {
      const ready: unknown = await (await fetch(`${second}/ready`)).json()
      const { agents, broker: state } = Object(ready) as Readonly<Record<string, unknown>>
      assert.deepEqual([agents, String(state).startsWith('connected')], [ROLES.length, true])
      const found: unknown = await (await fetch(`${second}/discover?skill=fetch_trends`)).json()
      assert.match(JSON.stringify(found), /"agent_name":"chimera-trend-analyst"/)
    }, LONG)

    // Found at one hub, asked where it is, and paid.
    const hire = ['hire', 'fetch_trends', '--budget', '0.1', '--input', INPUT, '--owner', 'acme']
    const proof = ['--hub', second, '--token-file', join(home, 'run/owner_token')]
    const hired = await chimera([...hire, ...proof])
    assert.equal(hired.status, 0, hired.err)
    assert.match(hired.err, /by chimera-trend-analyst \(\S+\) for 0\.05 credits/)
    assert.deepEqual(readdirSync(join(home, 'nowhere')), [], 'hubs leave nothing where they run')

    for (const each of [fleet, ...hubs]) {
      each.signal('SIGTERM')
      const { status, err } = await each.ended
      assert.equal(status, 0, err)
    }
  })
})
