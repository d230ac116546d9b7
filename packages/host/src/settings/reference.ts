/**
 * The settings for people: the reference page, written from the declarations, and what holds now,
 * for `--check`. Neither shows a secret.
 */
import { redactText } from '../redact.ts'
import { type Declared, flagOf, type Setting, variableOf } from './declare.ts'
import type { Settings } from './resolve.ts'
import { SETTINGS_FILE } from './sources.ts'

/** A page in Markdown; the order is that of the declarations. */
export function describeSettings(title: string, declared: Declared): string {
  const parts = Object.entries(declared).map(([name, setting]) => describeOne(name, setting))
  const head = [
    `# ${title}`,
    '',
    `A flag wins over a variable, a variable over \`${SETTINGS_FILE}\`, and that over the default.`,
    'All problems are reported at once, before anything is started.',
  ]
  return `${head.join('\n')}\n\n${parts.join('\n\n')}\n`
}

function describeOne(name: string, setting: Setting<unknown>): string {
  const { about, expected, fallback, secret, reload } = setting
  const variable = variableOf(name, setting)
  const rows = [
    ['flag', `\`${flagOf(name)}\``],
    ['variable', `\`${variable}\``],
    ['file', `\`"${name}"\``],
    ['accepts', expected],
    ['default', fallback ? shownDefault(setting, fallback.value) : 'none: it must be given'],
    ...(secret ? secretRows({ flag: flagOf(name), variable, name }, reload) : []),
  ]
  const table = rows.map(([what, is]) => `| ${what} | ${is?.replaceAll('|', '\\|')} |`)
  return [`## ${name}`, '', about, '', '| | |', '|---|---|', ...table].join('\n')
}

type Names = { readonly flag: string; readonly variable: string; readonly name: string }

function secretRows({ flag, variable, name }: Names, reload: boolean): readonly string[][] {
  const byFile = `\`${flag}-file\`, \`${variable}_FILE\`, \`"${name}File"\``
  return [
    ['secret', `never shown; better by file: ${byFile}`],
    ['rotation', reload ? 'a changed file takes effect by itself' : 'needs a restart'],
  ]
}

function shownDefault(setting: Setting<unknown>, value: unknown): string {
  return value === undefined ? 'not set' : `\`${setting.show(value)}\``
}

/** One line for each setting: its value and where it was said. */
export function printSettings<D extends Declared>(
  declared: D,
  { values, origins }: Settings<D>,
): string {
  const widest = Math.max(...Object.keys(declared).map((name) => name.length))
  const lines = Object.entries(declared).map(([name, setting]) => {
    const shown = redactText(setting.show(values[name]), { showInside: true })
    return `${name.padEnd(widest)}  ${shown}  (${origins[name]})`
  })
  return `${lines.join('\n')}\n`
}
