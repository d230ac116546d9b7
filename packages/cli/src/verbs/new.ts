/** `chimera new`: files to begin with. Nothing that is there is touched. */
import { createRequire } from 'node:module'
import { basename, join, relative, resolve } from 'node:path'
import { LIMITS } from '@chimera/domain/limits'
import { optional, setting } from '@chimera/host/settings/declare'
import { type Kind, text } from '@chimera/host/settings/kinds'
import { Command } from 'commander'
import { readFlags } from '../flags.ts'
import { starterFiles } from '../starter.ts'
import { VERSION } from '../version.ts'
import { writeNew } from '../write-new.ts'

/** What OpenClaw lets an agent be called. */
function agentName(): Kind<string> {
  return {
    expected: 'chimera- and small letters, digits and hyphens, at most 64 characters',
    read: (raw) => (/^chimera-[a-z0-9-]{1,56}$/.test(String(raw)) ? String(raw) : undefined),
    show: (name) => name,
  }
}

const ASKED = {
  name: optional(agentName(), {
    about: 'What the agent is called; chimera- and the name of the directory if nothing is said.',
  }),
  owner: setting(text({ least: 1, most: LIMITS.ownerChars }), {
    fallback: 'me',
    about: 'Whose it is, and who is paid for its work; me if nothing is said.',
  }),
} as const

export function newVerb(): Command {
  return new Command('new')
    .description('Files to begin with')
    .addCommand(
      new Command('agent')
        .description('A new agent: one skill, a test of it, and a README')
        .argument('[directory]', 'Where to; this one if nothing is said')
        .option('--name <name>', ASKED.name.about)
        .option('--owner <name>', ASKED.owner.about)
        .action(newAgent),
    )
    .addHelpText(
      'after',
      `
Examples:
  chimera new agent my-agent
  chimera new agent my-agent --owner acme && cd my-agent && npm install && npm test
  chimera agent my-agent/skills.ts --watch      serves it on the hub of this machine

Files that are there are never overwritten: with one of them in the way nothing is written.`,
    )
}

async function newAgent(
  named: string | undefined,
  flags: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { name, owner } = await readFlags(ASKED, flags)
  const directory = resolve(named ?? '.')
  const starter = { name: name ?? nameOf(directory), owner, version: VERSION }
  const next = 'Name another directory: chimera new agent <directory>'
  await writeNew(directory, starterFiles(starter), next)
  const place = relative('.', directory)
  console.error(`${starter.name} is in ${place === '' ? 'this directory' : place}. Next:`)
  if (place !== '') console.error(`  cd ${place}`)
  console.error(hasPackages(directory) ? '  npm test' : '  npm install && npm test')
  console.error('  npx chimera hub             a hub on this machine, in a terminal of its own')
  console.error('  npm run dev                 the agent on it, anew after each change')
}

/** In a clone of Chimera that is built, what the starter needs is there already. */
function hasPackages(directory: string): boolean {
  try {
    createRequire(join(directory, 'package.json')).resolve('@chimera/harness')
    return true
  } catch {
    return false
  }
}

function nameOf(directory: string): string {
  const word = basename(directory)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
  const plain = word.replace(/^(chimera-)?-*|-+$/g, '').slice(0, 56)
  return `chimera-${plain === '' ? 'agent' : plain}`
}
