/**
 * The style as a test: one file in, what is wrong with it out. Pure, so that each rule is proved on
 * sources in memory.
 */
import { inspectCitations } from './citations.ts'
import { inspectImports, inspectManifest } from './imports.ts'
import { inspectLayout } from './layout.ts'
import { inspectManners } from './manners.ts'
import { inspectModuleState } from './module-state.ts'
import { inspectNaming } from './naming.ts'
import { inspectPurity } from './purity.ts'
import { type Finding, lineAt, parseSource, type SourceFile, type Violation } from './source.ts'
import { inspectWireWords } from './wire-words.ts'

/** `known` are the IDs of docs/requirements.md. */
export function inspect(file: SourceFile, known: ReadonlySet<string>): Violation[] {
  return findings(file, known)
    .map(({ at, rule, advice }) => ({
      path: file.path,
      line: lineAt(file.text, at),
      rule,
      advice,
    }))
    .sort((one, other) => one.line - other.line)
}

function findings(file: SourceFile, known: ReadonlySet<string>): Finding[] {
  if (file.path.endsWith('package.json')) return inspectManifest(file)
  const parsed = parseSource(file)
  if (!parsed.ok) return [{ at: parsed.at, rule: 'syntax', advice: parsed.reason }]
  const { source } = parsed
  return [
    ...inspectNaming(file.path),
    ...inspectLayout(source),
    ...inspectImports(source),
    ...inspectPurity(source),
    ...inspectManners(source),
    ...inspectModuleState(source),
    ...inspectWireWords(source),
    ...inspectCitations(source, known),
  ]
}
