/**
 * Writes the published JSON Schemas (draft-07) to
 * packages/dialects/schemas/<dialect>/<message>.json, from the very objects that the code validates
 * with. With `--check` it writes nothing and fails when a file is missing, stale or left over.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DIALECTS } from '@chimera/dialects/dialects'

const FOLDER = fileURLToPath(new URL('../packages/dialects/schemas', import.meta.url))

function wantedFiles(): ReadonlyMap<string, string> {
  const files = new Map<string, string>()
  for (const [dialect, messages] of Object.entries(DIALECTS)) {
    for (const [message, { schema }] of Object.entries(messages)) {
      const published = {
        $schema: 'http://json-schema.org/draft-07/schema#',
        $id: `chimera://schemas/${dialect}/${message}`,
        ...schema,
      }
      files.set(`${dialect}/${message}.json`, `${JSON.stringify(published, undefined, 2)}\n`)
    }
  }
  return files
}

function presentFiles(): ReadonlySet<string> {
  try {
    const names = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    return new Set(
      names.filter((name) => name.endsWith('.json')).map((n) => n.replaceAll('\\', '/')),
    )
  } catch {
    return new Set()
  }
}

const read = (name: string): string => readFileSync(join(FOLDER, name), 'utf8')

function main(checkOnly: boolean): number {
  const wanted = wantedFiles()
  const present = presentFiles()
  const stale = [...wanted].filter(([name, text]) => !present.has(name) || read(name) !== text)
  const leftOver = [...present].filter((name) => !wanted.has(name))

  if (checkOnly) {
    for (const [name] of stale) console.error(`schemas/${name} is stale: run npm run schemas`)
    for (const name of leftOver) console.error(`schemas/${name} is left over: run npm run schemas`)
    return stale.length + leftOver.length > 0 ? 1 : 0
  }
  for (const [name, text] of stale) {
    mkdirSync(dirname(join(FOLDER, name)), { recursive: true })
    writeFileSync(join(FOLDER, name), text)
  }
  for (const name of leftOver) rmSync(join(FOLDER, name))
  console.log(`${wanted.size} schemas, ${stale.length} written, ${leftOver.length} removed`)
  return 0
}

process.exitCode = main(process.argv.includes('--check'))
