/** `chimera providers`: tries what stands behind the skills, and says what it would cost. */

import { checkProviders, type Finding } from '@chimera/skills/providers/check'
import { PROVIDER_VARIABLES } from '@chimera/skills/providers/environment'
import { Command } from 'commander'
import {
  type ProviderFlags,
  readProviders,
  toTrouble,
  withProviderFlags,
} from '../providers-file.ts'
import { printJson, printTable } from '../show.ts'
import { FAILED } from '../trouble.ts'

export function providersVerb(): Command {
  const widest = Math.max(...Object.keys(PROVIDER_VARIABLES).map((name) => name.length))
  const variables = Object.entries(PROVIDER_VARIABLES).map(
    ([name, about]) => `  ${name.padEnd(widest)}  ${about}`,
  )
  return new Command('providers')
    .description('What stands behind the skills: your servers, models, wallet and hub')
    .addCommand(
      withProviderFlags(new Command('check'))
        .description('Try each of them; exit 1 if one that is configured does not work')
        .option('--json', 'Print one JSON object.')
        .action(check),
    )
    .addHelpText(
      'after',
      `
They are said in chimera.config.ts, .mjs or .json (the part \`providers\`), or by variables:
${variables.join('\n')}

A model is asked one short question, which costs a fraction of a cent. Nothing is published, paid
or registered. What is not configured is embedded: it works on this machine alone and says so.

Examples:
  chimera providers check
  chimera providers check --config ./chimera.config.ts --json
  GEMINI_API_KEY=… chimera providers check`,
    )
}

async function check({
  json = false,
  ...flags
}: ProviderFlags & { json?: boolean }): Promise<void> {
  const { settings, file, directory } = await readProviders(flags)
  const findings = await checkProviders(settings, { directory }).catch((error: unknown) => {
    throw toTrouble(error, directory)
  })
  const ok = findings.every(({ state }) => state !== 'fails')
  if (json) printJson({ ok, ...(file !== undefined && { config: file }), findings })
  else show(findings, ok)
  if (!ok) process.exitCode = FAILED
}

function show(findings: readonly Finding[], ok: boolean): void {
  printTable(
    [{ title: 'PROVIDER' }, { title: 'STATE' }, { title: 'FOUND' }, { title: 'COSTS' }],
    findings.map(({ what, state, found, cost }) => [what, state, found, cost]),
  )
  for (const { what, state, fallback, next } of findings) {
    if (state === 'fails' && fallback !== undefined)
      console.error(`${what}: ${fallback} stands in.`)
    if (next !== undefined) console.error(`${what}: ${next}`)
  }
  const configured = findings.some(({ state }) => state !== 'embedded')
  if (!ok) console.error('Not all that is configured works.')
  else if (configured) console.error('All that is configured works.')
  else console.error('Nothing is configured: every skill works on this machine alone.')
}
