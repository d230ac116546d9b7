/** A page of the reference: what a package exports, in order, in its author's own words. */
import type { Exported, Kind } from './exported.ts'

export type PageAbout = {
  /** What is imported, such as `@chimera/agent`. */
  readonly package: string
  /** One sentence. */
  readonly about: string
  /** Of each import path, what it exports. */
  readonly parts: readonly { readonly path: string; readonly exported: readonly Exported[] }[]
}

const HEADINGS: readonly (readonly [Kind, string])[] = [
  ['function', 'Functions'],
  ['class', 'Classes'],
  ['constant', 'Constants'],
  ['type', 'Types'],
]
const MADE = '<!-- Written by `npm run reference`; change the sources instead. -->'

export function writePage({ package: name, about, parts }: PageAbout): string {
  const sections = parts.flatMap(({ path, exported }) => [
    `## From \`${path}\``,
    ...HEADINGS.flatMap(([kind, heading]) => sectionOf(kind, heading, exported)),
    ...foreignIn(exported),
  ])
  return `${[MADE, `# ${name}`, about, ...sections].join('\n\n')}\n`
}

function sectionOf(kind: Kind, heading: string, exported: readonly Exported[]): readonly string[] {
  const all = exported.flatMap((each) => (!each.foreign && each.kind === kind ? [each] : []))
  if (all.length === 0) return []
  const sorted = all.toSorted((one, other) => (one.name < other.name ? -1 : 1))
  return [
    `### ${heading}`,
    ...sorted.flatMap(({ name, doc, signature }) => [
      `#### \`${name}\``,
      ...(doc === '' ? [] : [doc]),
      `\`\`\`ts\n${signature}\n\`\`\``,
    ]),
  ]
}

function foreignIn(exported: readonly Exported[]): readonly string[] {
  const lines = exported.flatMap((each) =>
    each.foreign ? [`- \`${each.name}\` is that of \`${each.from}\`.`] : [],
  )
  return lines.length === 0 ? [] : [lines.join('\n')]
}
