/**
 * A campaign and its persona from files: YAML or JSON, or a TypeScript module that exports it.
 *
 *   C1  A persona that is named by a path is looked for beside the campaign.
 *   C2  Everything that is wrong is said at once, by file and field.
 *   C3  A module says it as `export const campaign` or `export const persona`, or by default.
 */
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { Issue } from '@chimera/domain/decision'
import type { RunCampaignInput } from '@chimera/fleet/campaign/asked'
import { campaignOf, readCampaignFile } from '@chimera/fleet/files/campaign-file'
import { readPersonaFile } from '@chimera/fleet/files/persona-file'
import { parse } from 'yaml'
import { isModule, loadModule } from './load-module.ts'
import { MISUSED, Trouble } from './trouble.ts'

export async function loadCampaign(
  path: string,
  { owner, now }: { readonly owner: string; readonly now: number },
): Promise<RunCampaignInput> {
  const read = readCampaignFile(await loadValue(path, 'campaign'))
  if (!read.ok) throw wrong(path, read.issues)
  const { file } = read
  const { persona: named } = file
  const place = typeof named === 'string' ? resolve(dirname(path), named) : path
  const said = typeof named === 'string' ? await loadValue(place, 'persona') : named
  const persona = readPersonaFile(said, { owner, now })
  if (!persona.ok) throw wrong(place, persona.issues)
  return campaignOf(file, { persona: persona.persona, owner, now })
}

type What = 'campaign' | 'persona'

async function loadValue(path: string, what: What): Promise<unknown> {
  if (isModule(path)) return exportedBy(path, what)
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    const why = error.code === 'ENOENT' ? 'there is no such file' : error.message
    throw new Trouble([`${path}: ${why}.`, '`chimera campaign new <file>` writes one.'], MISUSED)
  })
  try {
    // YAML has JSON inside. Aliases are bounded, so that a small file stays one.
    return parse(text, { maxAliasCount: 20 })
  } catch (error) {
    throw new Trouble(`${path}: no YAML and no JSON: ${String(error).split('\n')[0]}`, MISUSED)
  }
}

/** C3. */
async function exportedBy(path: string, what: What): Promise<unknown> {
  const loaded = await loadModule(path)
  const value = loaded[what] ?? loaded.default
  if (value !== undefined) return value
  const names = Object.keys(loaded).join(', ') || 'nothing'
  throw new Trouble(`${path}: expected it to export \`${what}\`; it exports ${names}.`, MISUSED)
}

/** C2. */
function wrong(path: string, issues: readonly Issue[]): Trouble {
  const lines = issues.map(
    ({ path: at, expected, got }) => `  ${at || 'the file'}: expected ${expected}; came ${got}`,
  )
  return new Trouble([`${path}:`, ...lines], MISUSED)
}
