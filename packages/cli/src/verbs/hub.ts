/**
 * `chimera hub`: runs a hub until it is told to stop. What it prints for people goes to standard
 * error, log lines for programs to standard output.
 */
import { createChance } from '@chimera/host/chance'
import { createClock } from '@chimera/host/clock'
import { createLog } from '@chimera/host/log'
import { flagOf } from '@chimera/host/settings/declare'
import { describeProblem } from '@chimera/host/settings/problems'
import { printSettings } from '@chimera/host/settings/reference'
import { resolveSettings } from '@chimera/host/settings/resolve'
import { stopOnSignals } from '@chimera/host/signals'
import { createStop } from '@chimera/host/stop'
import { HUB_SETTINGS } from '@chimera/hub/settings'
import { startHub } from '@chimera/hub/start'
import { Command } from 'commander'
import { consolePage } from '../console-page.ts'
import { explain, FAILED, MISUSED } from '../trouble.ts'

export function hubVerb(): Command {
  const verb = new Command('hub').description('Run a hub on this machine')
  for (const [name, { about }] of Object.entries(HUB_SETTINGS)) {
    verb.option(`${flagOf(name)} <value>`, about)
  }
  return verb
    .option('--config <file>', 'A settings file; chimera.config.json is read where there is one.')
    .option(
      '--new-operator-token',
      'Make and show another operator\u2019s token: the first is lost.',
    )
    .option('--check', 'Print the resolved settings, secrets redacted, and exit.')
    .addHelpText(
      'after',
      `
Examples:
  chimera hub
  chimera hub --listen 127.0.0.1:5000 --data ./my-network
  chimera hub --database postgres://chimera@127.0.0.1/chimera`,
    )
    .action(run)
}

type Options = Readonly<Record<string, unknown>> & {
  readonly config?: string
  readonly check?: boolean
  readonly newOperatorToken?: boolean
}

async function run({ config, check, newOperatorToken = false, ...flags }: Options): Promise<void> {
  const settings = await resolveSettings(HUB_SETTINGS, { flags, ...(config && { config }) })
  if (!settings.ok) {
    for (const problem of settings.problems) console.error(describeProblem(problem))
    process.exitCode = MISUSED
    return
  }
  if (newOperatorToken && settings.values.auth === 'open') {
    console.error('An open hub has no operator: --new-operator-token needs --auth required.')
    process.exitCode = MISUSED
    return
  }
  if (check) {
    console.log(printSettings(HUB_SETTINGS, settings))
    return
  }

  const clock = createClock()
  const stop = createStop({ clock })
  const log = createLog({ clock, name: 'hub', level: settings.values.logLevel })
  stopOnSignals(stop, {
    clock,
    source: process,
    exit: (status) => process.exit(status),
    onReport: ({ reason, tookMs, notClosed }) => {
      log.info({ reason, tookMs, notClosed: notClosed.map(({ name }) => name) }, 'stopped')
    },
  })
  const page = settings.values.console ? consolePage() : undefined
  try {
    const { address, also, firstOperatorToken } = await startHub({
      settings: settings.values,
      clock,
      chance: createChance(),
      log,
      stop,
      newOperator: newOperatorToken,
      page,
    })
    console.error(`The hub is ready on ${[address, ...also].join(', ')}`)
    if (page !== undefined) console.error(`Its console: ${address}/console/`)
    if (settings.values.auth === 'open') {
      console.error('It is open: whoever reaches this address may use it. Ctrl-C stops it.')
    }
    if (firstOperatorToken !== undefined) {
      console.error('The operator\u2019s token, shown this once and kept only as a digest:')
      console.error(firstOperatorToken)
    }
  } catch (error) {
    console.error(explain(error))
    await stop.stop('could not start')
    process.exitCode = FAILED
  }
}
