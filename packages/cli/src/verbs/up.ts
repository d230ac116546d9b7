/**
 * `chimera up`: a living network on this machine with one command: hub, fleet and page, and at the
 * first start a campaign that runs up to your approval.
 *
 *   U1  All of it lies in one folder, and `--fresh` removes what is in it and nothing else.
 *   U2  A port that is taken is no reason not to start: a free one is used, and said.
 *   U3  What people read goes to standard error, log lines for programs to a file beside the data.
 *   U4  The database opens while the rest is loaded, and what nobody waits for yet comes after the
 *       address: a second start is a matter of seconds.
 */
import { createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { setFlagsFromString } from 'node:v8'
import { type Clock, createClock } from '@chimera/host/clock'
import { createLog } from '@chimera/host/log'
import { describeProblem } from '@chimera/host/settings/problems'
import { resolveSettings } from '@chimera/host/settings/resolve'
import { stopOnSignals } from '@chimera/host/signals'
import { createStop, type Stop, type StopReport } from '@chimera/host/stop'
import { HUB_SETTINGS } from '@chimera/hub/settings'
import { openDatabase } from '@chimera/store/engine/open'
import { hasCode } from '@chimera/store/failure'
import { Command } from 'commander'
import { createLiveLine } from '../live-line.ts'
import type { HubValues } from '../storage.ts'
import { explain, FAILED, MISUSED } from '../trouble.ts'
import { forget, HUB_DATA, LOG_FILE, leftIn } from '../up/fresh.ts'
import { findHere, UP_HOME } from '../up/here.ts'
import type { HubThere, Network } from '../up/network.ts'
import { placeFor } from '../up/place.ts'

const OWNER = 'me'
/** The fleet is on this machine, and its hub speaks to it: when somebody calls work off. */
const HERE = '127.0.0.1'
const SAMPLE = 'town-square'

export function upVerb(): Command {
  return new Command('up')
    .description('Run a whole network here: hub, fleet and page, with a campaign to begin with')
    .option('--listen <place>', 'Where the hub listens; 127.0.0.1:4600, or a free port.')
    .option('--data <directory>', `Where everything is kept; ${UP_HOME} unless given.`)
    .option('--database <address>', HUB_SETTINGS.database.about)
    .option('--bus <addresses>', HUB_SETTINGS.bus.about)
    .option('--config <file>', 'Providers for the skills; chimera.config.ts if it is here.')
    .option('--no-campaign', 'Begin with no campaign.')
    .option('--fresh', 'Forget everything that an earlier start has left, and begin anew.')
    .option('--yes', 'Do not ask before that.')
    .addHelpText(
      'after',
      `
Examples:
  chimera up
  chimera up --fresh
  chimera up --database postgres://chimera@127.0.0.1/chimera --bus nats://127.0.0.1:4222

Ctrl-C lets work under way end and stops; a second one ends it at once. The next \`chimera up\`
goes on where it was. Feeds, models, platforms and a wallet of your own: \`chimera init\`.`,
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
  readonly yes?: boolean
}

async function run(options: Options): Promise<void> {
  const { data: directory = UP_HOME, config, campaign, fresh, yes, ...flags } = options
  const settings = await resolveSettings(HUB_SETTINGS, {
    flags: { ...flags, auth: 'required', data: join(directory, HUB_DATA) },
  })
  if (!settings.ok) {
    for (const problem of settings.problems) console.error(describeProblem(problem))
    process.exitCode = MISUSED
    return
  }
  if (fresh && !(await beginAnew(directory, settings.values, yes === true))) return
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const clock = createClock()
  const stop = createStop({ clock })
  const logFile = join(directory, LOG_FILE)
  const destination = createWriteStream(logFile, { flags: 'a', mode: 0o600 })
  const log = createLog({ clock, name: 'up', level: settings.values.logLevel, destination })
  const line = createLiveLine(process.stderr)
  const exit = (status: number): void => process.exit(status)
  stopOnSignals(stop, { clock, source: process, exit, onReport: (report) => tellEnd(report) })
  stop.stopping.addEventListener('abort', () =>
    line.note('Stopping: work under way may end. Ctrl-C again ends it at once.'),
  )
  const database = openSoon(settings.values, stop)
  try {
    const { startNetwork } = await import('../up/network.ts')
    const { readProviders } = await import('../providers-file.ts')
    const providers = await readProviders({ ...(config !== undefined && { config }) })
    const named = settings.origins.listen !== 'default'
    const listen = await placeFor(settings.values.listen, { named, say: line.note })
    const network = await startNetwork({
      settings: { ...settings.values, listen, allowNet: [...settings.values.allowNet, HERE] },
      providers: providers.settings,
      owner: OWNER,
      directory,
      database,
      clock,
      log,
      stop,
      onStep: (step) => line.show(`${step}…`),
      onHub: (hub) => {
        line.clear()
        sayAddress(hub)
      },
    })
    const begun = network.isNew && campaign ? await beginSample(network, clock) : undefined
    line.clear()
    greet({ logFile, begun, file: providers.file })
    network.warm()
  } catch (error) {
    line.clear()
    // Whoever has stopped it knows why it did not start.
    if (!stop.stopping.aborted) console.error(await whyNot(error, directory))
    await stop.stop('could not start')
    process.exitCode = FAILED
  }
}

/** U4. Closed with the rest, also where nobody came to use it. */
function openSoon({ database, data }: HubValues, stop: Stop) {
  // Of the embedded database, which is WebAssembly, only what is really busy is worth optimising:
  // by default V8 spends about a second of processor time on it at the start.
  setFlagsFromString('--wasm-tiering-budget=100000000')
  const opening = openDatabase(database ?? `pglite:${resolve(data)}`)
  // Whoever uses it hears what is wrong with it.
  opening.catch(() => undefined)
  stop.register({
    name: 'database',
    close: async () => (await opening.catch(() => undefined))?.close(),
  })
  return opening
}

/** U1. False where somebody has thought better of it. */
async function beginAnew(directory: string, { database }: HubValues, sure: boolean) {
  const left = await leftIn(directory)
  if (left.length > 0 && !sure && process.stdin.isTTY && process.stderr.isTTY) {
    const asking = createInterface({ input: process.stdin, output: process.stderr })
    const question = `Remove all that ${directory} holds (${left.join(', ')})? [y/N] `
    const answer = await asking.question(question)
    asking.close()
    if (!/^y(es)?$/i.test(answer.trim())) {
      console.error('Nothing was removed.')
      return false
    }
  }
  try {
    const removed = await forget(directory)
    console.error(
      removed.length === 0
        ? `There was nothing to forget in ${directory}.`
        : `Removed from ${directory}: ${removed.join(', ')}.`,
    )
    if (database !== undefined) console.error('What is in the database of --database stays there.')
    return true
  } catch (error) {
    console.error(await whyNot(error, directory))
    process.exitCode = FAILED
    return false
  }
}

async function whyNot(error: unknown, directory: string): Promise<string> {
  const here = hasCode(error, 'directory_locked') ? await findHere(directory) : undefined
  if (here === undefined) return explain(error)
  return `Chimera is up already in ${directory}: ${here.hub}\nCtrl-C in its terminal stops it.`
}

function tellEnd({ notClosed }: StopReport): void {
  if (notClosed.length === 0) return
  const names = notClosed.map(({ name }) => name).join(', ')
  console.error(`Not ended in time, and cut: ${names}. The next start takes care of it.`)
}

async function beginSample({ address, token }: Network, clock: Clock): Promise<string> {
  const [{ connect }, { beginCampaign, sampleFile }, { loadCampaign }] = await Promise.all([
    import('@chimera/agent/hire/connect'),
    import('../campaign-begin.ts'),
    import('../campaign-file.ts'),
  ])
  const input = await loadCampaign(sampleFile(SAMPLE), { owner: OWNER, now: clock.now() })
  const hirer = connect({ hub: address, owner: OWNER, token })
  try {
    await beginCampaign(hirer, input)
    return input.campaign.name
  } finally {
    await hirer.close()
  }
}

type Said = {
  readonly logFile: string
  /** The campaign that has begun. */
  readonly begun: string | undefined
  /** Where the providers of the skills were said. */
  readonly file: string | undefined
}

const say = (text = ''): void => console.error(text)

function sayAddress({ address, page, token, operator }: HubThere): void {
  say(`Chimera is up: ${page ? `${address}/console/#token=${token}` : address}`)
  if (page && operator !== undefined) {
    say(`  as its operator, for the whole trail: ${address}/console/#token=${operator}`)
  }
}

function greet({ logFile, begun, file }: Said): void {
  const chimera = process.env.npm_lifecycle_event === 'start' ? 'npm start --' : 'chimera'
  if (begun !== undefined) {
    say(`The campaign “${begun}” is on its way, and will wait for your approval in a moment.`)
  }
  if (file !== undefined) say(`Its skills stand on what ${file} says.`)
  say()
  say('Three things to try, in another terminal in this folder:')
  say(`  ${chimera} review list         what waits for you; \`approve\` it and it is published`)
  say(`  ${chimera} campaign list       how far it has come, and what it has cost`)
  say(`  ${chimera} agents skills       what they can do for each other`)
  say()
  say(`The log is in ${logFile}. Ctrl-C stops; the next start goes on from here.`)
}
