/**
 * `chimera up`: a living network on this machine with one command: hub, fleet and page, and at the
 * first start a campaign that runs up to your approval.
 *
 *   U1  All of it lies in one folder, and `--fresh` removes that folder and nothing else.
 *   U2  A port that is taken is no reason not to start: the next free one is used, and said.
 *   U3  What people read goes to standard error, log lines for programs to a file beside the data.
 */
import { createWriteStream } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { connect } from '@chimera/agent/hire/connect'
import { writeCents } from '@chimera/dialects/wire'
import { type Clock, createClock } from '@chimera/host/clock'
import { createLog } from '@chimera/host/log'
import { describeProblem } from '@chimera/host/settings/problems'
import { resolveSettings } from '@chimera/host/settings/resolve'
import { stopOnSignals } from '@chimera/host/signals'
import { createStop } from '@chimera/host/stop'
import { HUB_SETTINGS } from '@chimera/hub/settings'
import { Command } from 'commander'
import { loadCampaign } from '../campaign-file.ts'
import { isFree } from '../checks.ts'
import { createLiveLine } from '../live-line.ts'
import { readProviders } from '../providers-file.ts'
import { explain, FAILED, MISUSED } from '../trouble.ts'
import { UP_HOME } from '../up/here.ts'
import { type Network, startNetwork } from '../up/network.ts'

const OWNER = 'me'
const SAMPLE = 'town-square'

export function upVerb(): Command {
  return new Command('up')
    .description('Run a whole network here: hub, fleet and page, with a campaign to begin with')
    .option('--listen <place>', 'Where the hub listens; 127.0.0.1:4600, or the next free port.')
    .option('--data <directory>', `Where everything is kept; ${UP_HOME} unless given.`)
    .option('--database <address>', HUB_SETTINGS.database.about)
    .option('--bus <addresses>', HUB_SETTINGS.bus.about)
    .option('--config <file>', 'Providers for the skills; chimera.config.ts if it is here.')
    .option('--no-campaign', 'Begin with no campaign.')
    .option('--fresh', 'Forget everything that an earlier start has left, and begin anew.')
    .addHelpText(
      'after',
      `
Examples:
  chimera up
  chimera up --fresh
  chimera up --database postgres://chimera@127.0.0.1/chimera --bus nats://127.0.0.1:4222

Ctrl-C lets work under way end and stops. The next \`chimera up\` goes on where it was.`,
    )
    .action(run)
}

type Options = {
  readonly listen?: string
  readonly data?: string
  readonly database?: string
  readonly bus?: string
  readonly config?: string
  readonly campaign: boolean
  readonly fresh?: boolean
}

async function run(options: Options): Promise<void> {
  const { data: directory = UP_HOME, config, campaign, fresh = false, ...flags } = options
  // U1.
  if (fresh) await rm(directory, { recursive: true, force: true })
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const settings = await resolveSettings(HUB_SETTINGS, {
    flags: { ...flags, auth: 'required', data: join(directory, 'hub') },
  })
  if (!settings.ok) {
    for (const problem of settings.problems) console.error(describeProblem(problem))
    process.exitCode = MISUSED
    return
  }
  const clock = createClock()
  const stop = createStop({ clock })
  const logFile = join(directory, 'log.jsonl')
  const destination = createWriteStream(logFile, { flags: 'a', mode: 0o600 })
  const log = createLog({ clock, name: 'up', level: settings.values.logLevel, destination })
  const line = createLiveLine(process.stderr)
  stopOnSignals(stop, { clock, source: process, exit: (status) => process.exit(status) })
  stop.stopping.addEventListener('abort', () => line.note('Stopping: work under way may end…'))
  try {
    const providers = await readProviders({ ...(config !== undefined && { config }) })
    const network = await startNetwork({
      settings: { ...settings.values, listen: await placeFor(settings.values, flags.listen) },
      providers: providers.settings,
      owner: OWNER,
      directory,
      clock,
      log,
      stop,
      onStep: (step) => line.show(`${step}…`),
    })
    line.clear()
    const begun = network.isNew && campaign ? await beginCampaign(network, clock) : undefined
    greet(network, { logFile, begun })
  } catch (error) {
    line.clear()
    console.error(explain(error))
    await stop.stop('could not start')
    process.exitCode = FAILED
  }
}

type Settings = { readonly listen: { readonly host: string; readonly port: number } }

/** U2. A port that was asked for by name is meant. */
async function placeFor({ listen }: Settings, named: string | undefined) {
  if (named !== undefined || (await isFree(listen.host, listen.port))) return listen
  console.error(`Port ${listen.port} is taken, so another one is used.`)
  return { ...listen, port: 0 }
}

async function beginCampaign(network: Network, clock: Clock): Promise<string> {
  const { address, token } = network
  const samples = fileURLToPath(new URL('../samples/', import.meta.resolve('@chimera/fleet')))
  const file = join(samples, 'campaigns', `${SAMPLE}.yaml`)
  const input = await loadCampaign(file, { owner: OWNER, now: clock.now() })
  const hirer = connect({ hub: address, owner: OWNER, token })
  try {
    const [agent] = await hirer.discover('run_campaign')
    if (agent === undefined) throw new Error('the fleet is not found')
    const { campaign_id: key, name } = input.campaign
    const budget = writeCents(agent.skill.priceCents)
    await hirer.ask(agent, { ...input }, { budget, key, deadline: '24h' })
    return name
  } finally {
    await hirer.close()
  }
}

function greet(
  { address, page, token }: Network,
  { logFile, begun }: { readonly logFile: string; readonly begun: string | undefined },
): void {
  const say = (text = ''): void => console.error(text)
  const chimera = process.env.npm_lifecycle_event === 'start' ? 'npm start --' : 'chimera'
  say(`Chimera is up: ${page ? `${address}/console/#token=${token}` : address}`)
  if (begun !== undefined) {
    say(`The campaign “${begun}” is on its way, and will wait for your approval in a moment.`)
  }
  say()
  say('Three things to try, in another terminal in this folder:')
  say(`  ${chimera} review list         what waits for you; \`approve\` it and it is published`)
  say(`  ${chimera} campaign list       how far it has come, and what it has cost`)
  say(`  ${chimera} agents              who is on the network`)
  say()
  say(`The log is in ${logFile}. Ctrl-C stops; the next start goes on from here.`)
}
