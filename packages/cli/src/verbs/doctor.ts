/** `chimera doctor`: looks at what a hub needs here, and says what to do about what is missing. */
import { createClock } from '@chimera/host/clock'
import { HUB_SETTINGS } from '@chimera/hub/settings'
import { Command } from 'commander'
import { type Finding, runChecks } from '../checks.ts'
import { printJson, printTable } from '../show.ts'
import { readHubSettings, type StorageFlags, withStorageFlags } from '../storage.ts'
import { FAILED } from '../trouble.ts'

export function doctorVerb(): Command {
  return withStorageFlags(new Command('doctor'))
    .description('Check Node, ports, data, database and clock; exit 1 if a hub could not run')
    .option('--listen <place>', HUB_SETTINGS.listen.about)
    .option('--extra-ports <ports>', HUB_SETTINGS.extraPorts.about)
    .option('--json', 'Print one JSON object.')
    .addHelpText(
      'after',
      `
Examples:
  chimera doctor
  chimera doctor --listen 127.0.0.1:5000 --extra-ports 8001,8002
  chimera doctor --database postgres://chimera@127.0.0.1/chimera`,
    )
    .action(run)
}

type Options = StorageFlags & Readonly<Record<string, unknown>> & { readonly json?: boolean }

async function run({ json = false, ...flags }: Options): Promise<void> {
  const findings = await runChecks(await readHubSettings(flags), createClock().now)
  const healthy = findings.every(({ state }) => state !== 'bad')
  if (json) printJson({ healthy, findings })
  else show(findings, healthy)
  if (!healthy) process.exitCode = FAILED
}

function show(findings: readonly Finding[], healthy: boolean): void {
  printTable(
    [{ title: 'CHECK' }, { title: 'STATE' }, { title: 'FOUND' }],
    findings.map(({ what, state, found }) => [what, state, found]),
  )
  for (const { what, next } of findings) {
    if (next !== undefined) console.error(`${what}: ${next}`)
  }
  console.error(healthy ? 'Nothing keeps a hub from running here.' : 'A hub cannot run like this.')
}
