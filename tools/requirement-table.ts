/**
 * docs/requirements.md as data: its families and rows, and the IDs that a text cites. Shared by
 * tidy, which refuses a citation of a row that is not there, and by the coverage report.
 */
export type Requirement = { readonly id: string; readonly text: string }
export type Family = {
  readonly id: string
  readonly title: string
  readonly rows: readonly Requirement[]
}

export const REQUIREMENTS_PATH = 'docs/requirements.md'

const HEADING = /^## ([A-Z]+) — (.+)$/
const ROW = /^\| ([A-Z]+-\d+) \| (.+) \|$/

export function parseRequirements(markdown: string): readonly Family[] {
  const families: { id: string; title: string; rows: Requirement[] }[] = []
  for (const line of markdown.split('\n')) {
    const [, family, title] = HEADING.exec(line) ?? []
    if (family && title) families.push({ id: family, title, rows: [] })
    const [, id, text] = ROW.exec(line) ?? []
    if (!id || !text) continue
    const home = families.at(-1)
    if (!home || !id.startsWith(`${home.id}-`)) throw new Error(`${id} stands under another family`)
    if (home.rows.some((each) => each.id === id)) throw new Error(`${id} stands there twice`)
    home.rows.push({ id, text })
  }
  return families
}

export function idsOf(families: readonly Family[]): ReadonlySet<string> {
  return new Set(families.flatMap(({ rows }) => rows.map(({ id }) => id)))
}

/** Curves are named like promises. */
const NOT_A_ROW = ['P-256', 'P-384', 'P-521']

/**
 * The IDs that a test's title names: those of a known family anywhere, and whatever looks like an
 * ID in front, so that a mistyped family does not pass as prose.
 */
export function citedIn(title: string, known: ReadonlySet<string>): readonly string[] {
  const families = new Set([...known].map((id) => id.replace(/-\d+$/, '')))
  const cited = [...title.matchAll(/(?<![\w-])([A-Z]{1,3})-\d+(?![\w-])/g)]
    .filter(([, family = ''], index) => families.has(family) || (index === 0 && opens(title)))
    .map(([id]) => id)
  return [...new Set(cited)].filter((id) => !NOT_A_ROW.includes(id))
}

function opens(title: string): boolean {
  return /^[A-Z]{1,2}-\d{1,2}(?![\w-])/.test(title)
}
