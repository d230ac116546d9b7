/**
 * Which requirements have a test: the rows of docs/requirements.md beside the test titles that
 * cite them. A report and not a gate, since a row without a test may be work to come.
 */
import { citedIn, type Family, idsOf } from './requirement-table.ts'
import { titlesOf } from './tidy/citations.ts'
import { lineAt, parseSource, type SourceFile } from './tidy/source.ts'

export type Proof = { readonly path: string; readonly line: number; readonly title: string }
export type Row = { readonly id: string; readonly text: string; readonly tests: readonly Proof[] }
export type FamilyCoverage = {
  readonly id: string
  readonly title: string
  readonly proved: number
  readonly total: number
  readonly rows: readonly Row[]
}
export type Coverage = {
  readonly proved: number
  readonly total: number
  readonly families: readonly FamilyCoverage[]
}

export function coverageOf(families: readonly Family[], files: Iterable<SourceFile>): Coverage {
  const proofs = proofsIn(files, idsOf(families))
  const covered = families.map(({ id, title, rows }) => {
    const proved = rows.map((row) => ({ ...row, tests: proofs.get(row.id) ?? [] }))
    return { id, title, ...count(proved), rows: proved }
  })
  return { ...count(covered.flatMap(({ rows }) => rows)), families: covered }
}

function count(rows: readonly Row[]): { proved: number; total: number } {
  return { proved: rows.filter(({ tests }) => tests.length > 0).length, total: rows.length }
}

function proofsIn(
  files: Iterable<SourceFile>,
  known: ReadonlySet<string>,
): ReadonlyMap<string, readonly Proof[]> {
  const proofs = new Map<string, Proof[]>()
  for (const file of files) {
    // The tests of the tools quote rows and prove none.
    if (!/\.test\.tsx?$/.test(file.path) || file.path.startsWith('tools/')) continue
    const parsed = parseSource(file)
    if (!parsed.ok) continue
    for (const { at, text, runs } of titlesOf(parsed.source)) {
      const proof = { path: file.path, line: lineAt(file.text, at), title: text }
      for (const id of runs ? citedIn(text, known) : []) {
        proofs.set(id, [...(proofs.get(id) ?? []), proof])
      }
    }
  }
  return proofs
}

const EXCERPT = 72

/** The report as a person reads it. */
export function renderCoverage({ families, proved, total }: Coverage): string {
  const blocks = families.map((family) => {
    const heading = `${family.id} — ${family.title}: ${family.proved} of ${family.total}`
    return [heading, ...family.rows.map(renderRow)].join('\n')
  })
  return [...blocks, `${proved} of ${total} requirements have a test`].join('\n\n')
}

function renderRow({ id, text, tests }: Row): string {
  if (tests.length === 0) return `  ·  ${id.padEnd(6)} not yet: ${excerpt(text)}`
  const files = [...new Set(tests.map(({ path }) => path))]
  const titles = tests.length === 1 ? '1 title' : `${tests.length} titles`
  return `  ✓  ${id.padEnd(6)} ${titles} in ${files.join(', ')}`
}

function excerpt(text: string): string {
  const plain = text.replaceAll('**', '').replaceAll('`', '')
  return plain.length <= EXCERPT ? plain : `${plain.slice(0, EXCERPT).trimEnd()}…`
}
