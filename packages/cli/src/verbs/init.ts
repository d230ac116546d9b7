/** `chimera init`: a project of one's own: what the skills stand on, a campaign and its persona. */
import { join, relative, resolve } from 'node:path'
import { setting } from '@chimera/host/settings/declare'
import { choice } from '@chimera/host/settings/kinds'
import { Command } from 'commander'
import { SAMPLES, type Sample } from '../campaign-begin.ts'
import { readFlags } from '../flags.ts'
import { CAMPAIGN_FILE, initialise } from '../init.ts'
import { CONFIG_FILE } from '../init-template.ts'
import { printJson } from '../show.ts'

const ASKED = {
  sample: setting<Sample>(choice(SAMPLES), {
    fallback: 'town-square',
    about: `Which campaign to begin with: ${SAMPLES.join(', ')}.`,
  }),
} as const

export function initVerb(): Command {
  return new Command('init')
    .description('Files for a network of your own: chimera.config.ts, a campaign and its persona')
    .argument('[directory]', 'Where to; this one if nothing is said')
    .option('--sample <name>', ASKED.sample.about)
    .option('--json', 'Print what was written as one JSON object.')
    .addHelpText(
      'after',
      `
Examples:
  chimera init
  chimera init my-network --sample tools-that-last
  chimera providers check              tries what chimera.config.ts names
  chimera up                           a network on it, in the same directory

Files that are there are never overwritten: with one of them in the way nothing is written.`,
    )
    .action(run)
}

type Options = Readonly<Record<string, unknown>> & { readonly json?: boolean }

async function run(named: string | undefined, { json = false, ...flags }: Options): Promise<void> {
  const { sample } = await readFlags(ASKED, flags)
  const directory = resolve(named ?? '.')
  const files = await initialise(directory, sample)
  if (json) return printJson({ directory, files })
  const place = relative('.', directory)
  console.error(`Wrote ${files.map((name) => join(place, name)).join(', ')}. Next:`)
  if (place !== '') console.error(`  cd ${place}`)
  console.error(`  edit ${CONFIG_FILE}`.padEnd(36), 'uncomment what you have')
  console.error('  chimera providers check'.padEnd(36), 'tries it')
  console.error('  chimera up'.padEnd(36), 'a network on it')
  console.error(`  chimera campaign run ${CAMPAIGN_FILE}`.padEnd(36), 'your campaign')
}
