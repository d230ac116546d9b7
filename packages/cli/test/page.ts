/**
 * A page of the documentation as a reader follows it: its commands, each with the lines that it
 * should print, its programs, and the terminal that each is typed into.
 *
 *   P1  Nothing on the page is there for the test alone. A block of `sh` is typed, the block of
 *       `text` after it is what comes; a block of `ts` is put into the file that is named last
 *       before it; `…` stands for whatever was left out.
 *   P2  Ids and addresses are another on every machine. Where the page shows one for the first time
 *       it stands for the real one, and so it does wherever it comes again, in commands too.
 */
export type Step =
  | {
      readonly step: 'type'
      readonly terminal: string
      readonly command: string
      readonly expected: readonly string[]
    }
  | { readonly step: 'hear'; readonly terminal: string; readonly expected: readonly string[] }
  | { readonly step: 'write'; readonly file: string; readonly text: string }
  | { readonly step: 'interrupt'; readonly terminal: string }

const TOLD =
  /```(?<language>sh|text|ts)\n(?<block>[\s\S]*?)```|(?<interrupt>\*\*Ctrl-C\*\* in )?the (?<ordinal>first|second|third) terminal|`(?<file>[\w./-]+\.ts)`/g

export function readSteps(page: string): readonly Step[] {
  const steps: Step[] = []
  let terminal = ''
  let file = ''
  let after = ''
  for (const { groups = {} } of page.matchAll(TOLD)) {
    const { language, block = '', interrupt, ordinal = '', file: named } = groups
    const before = steps.at(-1)
    if (interrupt !== undefined) steps.push({ step: 'interrupt', terminal: ordinal })
    else if (named !== undefined) file = named
    else if (language === undefined) terminal = ordinal
    else if (language === 'ts') steps.push({ step: 'write', file, text: block })
    else if (language === 'sh') {
      for (const command of block.trim().split('\n')) {
        steps.push({ step: 'type', terminal, command, expected: [] })
      }
    } else if (after === 'sh' && before?.step === 'type') {
      steps.splice(-1, 1, { ...before, expected: linesOf(block) })
    } else steps.push({ step: 'hear', terminal, expected: linesOf(block) })
    if (language !== undefined) after = language
    else if (interrupt !== undefined || ordinal !== '') after = ''
  }
  return steps
}

const linesOf = (block: string): readonly string[] =>
  block.split('\n').filter((line) => line.trim() !== '' && line.trim() !== '…')

const ID = '\\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\\b'
const SHORT = '\\b(?=[a-f]*[0-9])[0-9a-f]{8}\\b'
const PLACE = '127\\.0\\.0\\.1:\\d+'
const NAMES = new RegExp(`${ID}|${SHORT}|${PLACE}`, 'g')
const WORDS = new RegExp(`(${ID}|${SHORT}|${PLACE}|…|\\s+)`)

/** What the page's own ids and addresses stand for on this machine (P2). */
export type Meanings = {
  /** A command of the page, as it has to be typed here. */
  readonly said: (command: string) => string
  /** Where a line of the page stands among these; what it shows for the first time is learnt. */
  readonly pattern: (line: string) => RegExp
  readonly learn: (line: string, found: RegExpExecArray) => void
}

export function createMeanings(): Meanings {
  const meanings = new Map<string, string>()
  const meant = (name: string): string | undefined => {
    const whole = meanings.get(name)
    if (whole !== undefined || name.length !== 8) return whole
    const [, longer] = [...meanings].find(([each]) => each.startsWith(`${name}-`)) ?? []
    return longer?.slice(0, 8)
  }
  const unknownIn = (line: string): readonly string[] =>
    [...new Set(line.match(NAMES) ?? [])].filter((name) => meant(name) === undefined)

  function pattern(line: string): RegExp {
    const groups: string[] = []
    const parts = line
      .trim()
      .split(WORDS)
      .map((part) => {
        if (part === '…') return '.*'
        if (part.trim() === '') return part === '' ? '' : '\\s+'
        if (!part.match(NAMES)) return literally(part)
        const known = meant(part)
        if (known !== undefined) return literally(known)
        groups.push(part)
        const first = groups.indexOf(part)
        if (first < groups.length - 1) return `\\${first + 1}`
        return `(${new RegExp(PLACE).test(part) ? PLACE : part.length === 8 ? '[0-9a-f]{8}' : ID})`
      })
    return new RegExp(`^[^\\S\\n]*${parts.join('')}[^\\S\\n]*$`, 'm')
  }

  return {
    said: (command) => command.replaceAll(NAMES, (name) => meant(name) ?? name),
    pattern,
    learn(line, found) {
      for (const [at, name] of unknownIn(line).entries()) {
        const real = found[at + 1]
        if (real !== undefined) meanings.set(name, real)
      }
    },
  }
}

const literally = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** `npm start -- hire x --input '{"a": 1}'` as the words after `chimera`. */
export function wordsOf(command: string): readonly string[] {
  const [npm, start, dashes, ...words] = command.match(/'[^']*'|\S+/g) ?? []
  if (npm !== 'npm' || start !== 'start' || (dashes !== undefined && dashes !== '--')) {
    throw new Error(`not a command of this page: ${command}`)
  }
  return words.map((word) => word.replace(/^'|'$/g, ''))
}

const LINK = /\]\(([^)\s:#]*)(?:#([^)\s]+))?\)/g
const BLOCK = /```[\s\S]*?```/g

/** Where a page leads to beside it, and to which heading there. */
export function linksOf(
  page: string,
): readonly { readonly to: string; readonly heading: string }[] {
  const prose = page.replaceAll(BLOCK, '')
  return [...prose.matchAll(LINK)].map(([, to = '', heading = '']) => ({ to, heading }))
}

/** As GitHub writes them into an address. */
export function headingsOf(page: string): readonly string[] {
  return [...page.replaceAll(BLOCK, '').matchAll(/^#+ (.*)$/gm)].map(([, words = '']) =>
    words
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  )
}
