/**
 * Writes docs/reference/settings.md from the declarations that the hub itself reads. With `--check`
 * it writes nothing, and fails when the page is not what it would write now.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describeSettings } from '@chimera/host/settings/reference'
import { HUB_SETTINGS } from '@chimera/hub/settings'
import { ROOT } from './tree.ts'

const PAGE = 'docs/reference/settings.md'
const MADE =
  '<!-- Written by `npm run reference`; change packages/hub/src/settings.ts instead. -->\n\n'

function main(checkOnly: boolean): number {
  const path = join(ROOT, PAGE)
  const wanted = `${MADE}${describeSettings('Settings of the hub', HUB_SETTINGS)}`
  if (checkOnly) {
    if (textOf(path) === wanted) return 0
    console.error(`${PAGE} is stale: run npm run reference`)
    return 1
  }
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, wanted)
  console.log(`${PAGE}: ${Object.keys(HUB_SETTINGS).length} settings`)
  return 0
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

process.exitCode = main(process.argv.includes('--check'))
