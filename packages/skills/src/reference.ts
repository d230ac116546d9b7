/** The reference page of the ten skills, in Markdown, from the contracts alone (catalogue.ts). */
import {
  type ErrorShown,
  type FieldShown,
  SKILL_NAMES,
  type SkillShown,
  showCommonErrors,
  showShapes,
  showSkill,
} from './catalogue.ts'

export function describeSkills(): string {
  const skills = SKILL_NAMES.map(showSkill)
  const parts = [
    '# The ten skills',
    '',
    'What each takes and gives, within which bounds, how long it may take, and how it ends when',
    'it does not succeed. `chimera skill show <name>` says the same, `chimera skill example` has',
    'an input to begin with, and [providers](../concepts/providers.md) are what they stand on.',
    'Fields in bold must be there. Unknown fields are ignored.',
    '',
    '| skill | |',
    '|---|---|',
    ...skills.map(({ name, purpose }) => `| [\`${name}\`](#${name}) | ${cell(purpose)} |`),
    ...skills.flatMap(describe),
    '',
    '## Shapes',
    ...showShapes().flatMap(({ name, fields }) => ['', `### ${name}`, '', ...fieldTable(fields)]),
    '',
    '## Errors of every skill',
    '',
    'Beside its own, a skill may end in one of these.',
    '',
    ...errorTable(showCommonErrors()),
  ]
  return `${parts.join('\n')}\n`
}

function describe(skill: SkillShown): readonly string[] {
  const { name, version, purpose, roles, timeoutMs, partsMs, cacheMs, once } = skill
  const inner = Object.entries(partsMs).map(([part, ms]) => `${ms / 1_000} s for each ${part}`)
  const rows = [
    ['version', version],
    ['for', roles.map((role) => role.replaceAll('_', ' ')).join(', ')],
    ['time', [`${timeoutMs / 1_000} s for one attempt`, ...inner].join(', ')],
    ['cache', cacheMs === undefined ? 'none' : `${cacheMs / 1_000} s`],
    ...(once === undefined ? [] : [['once', `for each ${once}`]]),
  ]
  return [
    '',
    `## ${name}`,
    '',
    `${purpose}.`,
    '',
    '| | |',
    '|---|---|',
    ...rows.map(([what = '', is = '']) => `| ${what} | ${cell(is)} |`),
    '',
    '### Takes',
    '',
    ...fieldTable(skill.input),
    '',
    '### Gives',
    '',
    ...fieldTable(skill.output),
    '',
    '### Errors',
    '',
    ...errorTable(skill.errors),
  ]
}

function fieldTable(fields: readonly FieldShown[]): readonly string[] {
  return [
    '| field | type | bounds | default | |',
    '|---|---|---|---|---|',
    ...fields.map(({ name, required, type, bounds, preset, about }) => {
      const shown = required ? `**\`${name}\`**` : `\`${name}\``
      const filled = preset === undefined ? '' : `\`${preset}\``
      const cells = [type, bounds, filled, about ?? ''].map(cell)
      return `| ${[shown, ...cells].join(' | ')} |`
    }),
  ]
}

function errorTable(errors: readonly ErrorShown[]): readonly string[] {
  return [
    '| code | HTTP | what follows | |',
    '|---|---|---|---|',
    ...errors.map(
      ({ code, http, recovery, words }) =>
        `| \`${code}\` | ${http} | ${cell(recovery)} | ${cell(words)} |`,
    ),
  ]
}

const cell = (text: string): string => text.replaceAll('|', '\\|')
