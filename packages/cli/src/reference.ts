/**
 * The reference page of the command line, written from the definitions that the program itself
 * reads: nothing is said there that `--help` does not say.
 */
import type { Command } from 'commander'

export function describeCommands(program: Command): string {
  const verbs = program.commands.toSorted((one, other) => one.name().localeCompare(other.name()))
  const parts = [
    '# The command line',
    '',
    `${sentence(program.description())} \`chimera <verb> --help\` says the same as this page.`,
    '',
    'Data goes to standard output and words to standard error, so a pipe carries data only;',
    '`--json` is for programs. Exit status: 0 done, 1 tried and failed or found something, 2 the',
    'words make no sense; a verb that has more lists them.',
    '',
    '| verb | |',
    '|---|---|',
    ...verbs.map(
      (verb) => `| [\`${verb.name()}\`](#chimera-${verb.name()}) | ${cell(verb.description())} |`,
    ),
    ...verbs.flatMap((verb) => describe(verb, 'chimera', '##')),
  ]
  return `${parts.join('\n')}\n`
}

function describe(command: Command, before: string, heading: string): readonly string[] {
  const path = `${before} ${command.name()}`
  const args = command.registeredArguments
  const words = args.map((each) => {
    const word = `${each.name()}${each.variadic ? '...' : ''}`
    return each.required ? `<${word}>` : `[${word}]`
  })
  const options = command.options.filter(({ hidden }) => !hidden)
  const rows = [
    ...args.map((each, at) => [`\`${words[at]}\``, each.description]),
    ...options.map((each) => [`\`${each.flags}\``, each.description]),
  ]
  return [
    '',
    `${heading} ${path}`,
    '',
    sentence(command.description()),
    ...(command.commands.length > 0
      ? []
      : [
          '',
          '```',
          [path, ...(options.length > 0 ? ['[options]'] : []), ...words].join(' '),
          '```',
        ]),
    ...(rows.length === 0
      ? []
      : ['', '| | |', '|---|---|', ...rows.map((row) => `| ${row.map(cell).join(' | ')} |`)]),
    ...command.commands.flatMap((each) => describe(each, path, `${heading}#`)),
    ...told(command),
  ]
}

/** What the help says after the options, as it stands there. */
function told(command: Command): readonly string[] {
  let text = ''
  command.configureOutput({
    writeOut: (words) => {
      text += words
    },
  })
  command.outputHelp()
  const from = text.indexOf(command.helpInformation())
  const after = text.slice(from + command.helpInformation().length).trim()
  return after === '' ? [] : ['', '```', after, '```']
}

const sentence = (text: string): string => (text.endsWith('.') ? text : `${text}.`)
const cell = (text: string | undefined): string => (text ?? '').replaceAll('|', '\\|')
