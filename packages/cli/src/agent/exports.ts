/**
 * What a skill file exports, as what an agent runs with.
 *
 *   E1  Every export that is a skill, or a list of skills, counts: the default one and named ones.
 *       The same skill under two names is one skill.
 *   E2  The default export may be options of `createAgent` instead; its `skills` count too.
 *   E3  A file that exports anything else in their place is told what to export, by its names.
 */
import type { AgentOptions } from '@chimera/agent'
import type { Skill } from '@chimera/skill/contract'

export type FileOptions = Partial<Omit<AgentOptions, 'skills'>>

export type Exported =
  | { readonly ok: true; readonly skills: readonly Skill[]; readonly options: FileOptions }
  | { readonly ok: false; readonly lines: readonly string[] }

type Fields = Readonly<Record<string, unknown>>

export const WHAT_TO_EXPORT = [
  'Export skills, by name or by default:',
  '',
  "  import { defineSkill, Type } from '@chimera/agent'",
  '',
  '  export const shout = defineSkill({',
  "    name: 'shout',",
  "    version: '1.0',",
  '    input: Type.Object({ text: Type.String() }),',
  '    output: Type.Object({ text: Type.String() }),',
  '    run: async ({ text }) => ({ text: text.toUpperCase() }),',
  '  })',
  '',
  'or options with skills in them: export default { owner: "acme", skills: [shout] }',
]

export function readExports(module: Fields): Exported {
  const exported = Object.entries(unwrapped(module))
  const skills = new Set<Skill>()
  const wrong: string[] = []
  let options: Fields = {}

  for (const [name, value] of exported) {
    const called = name === 'default' ? 'the default export' : name
    const among = listIn(value)
    if (among !== undefined) take(among, called)
    else if (name === 'default' && isRecord(value)) {
      if (isAgent(value)) wrong.push(madeAlready)
      else if (isDefinition(value)) wrong.push(undefinedYet(called))
      else options = value
    } else if (isDefinition(value)) wrong.push(undefinedYet(called))
  }
  const { skills: listed, ...rest } = options
  if (Array.isArray(listed)) take(listed, '`skills`')
  else if (listed !== undefined) wrong.push('`skills`: expected a list of skills.')

  function take(values: readonly unknown[], called: string): void {
    for (const [at, value] of values.entries()) {
      if (isSkill(value)) skills.add(value)
      else wrong.push(undefinedYet(`${called}[${at}]`))
    }
  }

  if (wrong.length > 0) return { ok: false, lines: wrong }
  if (skills.size === 0) {
    const names = exported.map(([name]) => name)
    const what = names.length === 0 ? 'It exports nothing.' : `It exports ${names.join(', ')}:`
    const none = names.length === 0 ? [what] : [`${what} none of them is a skill.`]
    return { ok: false, lines: [...none, ...WHAT_TO_EXPORT] }
  }
  return { ok: true, skills: [...skills], options: rest }
}

const madeAlready =
  'The default export is an agent that is made already. Export what it is made of instead: ' +
  'export default { name, owner, skills }; `chimera agent` makes it.'
const undefinedYet = (called: string): string =>
  `${called} is not a skill: expected what defineSkill({ … }) returns.`

/** CommonJS that was compiled from a module has its exports one level down. */
function unwrapped(module: Fields): Fields {
  const { default: inner } = module
  return isRecord(inner) && Object.hasOwn(inner, '__esModule') ? inner : module
}

/** A list that is meant to be one of skills; a file may export lists of other things. */
function listIn(value: unknown): readonly unknown[] | undefined {
  if (isSkill(value)) return [value]
  if (!Array.isArray(value)) return undefined
  const list: readonly unknown[] = value
  return list.some((each) => isSkill(each) || isDefinition(each)) ? list : undefined
}

/** By its shape: the file may have another copy of the package than we do. */
function isSkill(value: unknown): value is Skill {
  if (!isRecord(value)) return false
  const { id, priceCents, errors, work } = value
  return (
    typeof id === 'string' && typeof priceCents === 'number' && isRecord(errors) && isRecord(work)
  )
}

/** What somebody forgot to hand to `defineSkill`. */
const isDefinition = (value: unknown): boolean =>
  isRecord(value) && !isSkill(value) && 'input' in value && ('run' in value || 'module' in value)

const isAgent = ({ start, drain }: Fields): boolean =>
  typeof start === 'function' && typeof drain === 'function'

const isRecord = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
