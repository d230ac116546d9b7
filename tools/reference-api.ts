/**
 * Writes docs/reference/{agent,skill,harness}.md from the sources of what each package exports.
 * With `--check` it writes nothing, and fails when a page is not what it would write now.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readExports } from './api/exported.ts'
import { writePage } from './api/page.ts'
import { ROOT } from './tree.ts'

type Wanted = {
  readonly package: string
  readonly about: string
  /** Of each import path, the module behind it. */
  readonly entries: Readonly<Record<string, string>>
}

const PAGES: Readonly<Record<string, Wanted>> = {
  'docs/reference/agent.md': {
    package: '@chimera/agent',
    about: 'What an agent author installs: serving skills, and hiring others.',
    entries: { '@chimera/agent': 'packages/agent/src/index.ts' },
  },
  'docs/reference/skill.md': {
    package: '@chimera/skill',
    about: 'A skill’s contract, and the runner around it. It needs no hub, agent or database.',
    entries: {
      '@chimera/skill/define': 'packages/skill/src/define.ts',
      '@chimera/skill/contract': 'packages/skill/src/contract.ts',
      '@chimera/skill/runner': 'packages/skill/src/runner.ts',
    },
  },
  'docs/reference/harness.md': {
    package: '@chimera/harness',
    about: 'A whole network in memory under a virtual clock, for tests.',
    entries: { '@chimera/harness': 'packages/harness/src/index.ts' },
  },
}

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

function main(checkOnly: boolean): number {
  let stale = 0
  for (const [page, { entries, ...about }] of Object.entries(PAGES)) {
    const parts = Object.entries(entries).map(([path, entry]) => {
      return { path, exported: readExports(entry, read) }
    })
    const wanted = writePage({ ...about, parts })
    if (!checkOnly) {
      mkdirSync(dirname(join(ROOT, page)), { recursive: true })
      writeFileSync(join(ROOT, page), wanted)
      console.log(`${page}: ${parts.flatMap(({ exported }) => exported).length} names`)
    } else if (textOf(page) !== wanted) {
      console.error(`${page} is stale: run npm run reference`)
      stale += 1
    }
  }
  return stale === 0 ? 0 : 1
}

function textOf(path: string): string | undefined {
  try {
    return read(path)
  } catch {
    return undefined
  }
}

process.exitCode = main(process.argv.includes('--check'))
