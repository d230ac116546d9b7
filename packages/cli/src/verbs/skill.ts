/** `chimera skill`: the ten skills from the command line, with no hub, no agent and no database. */
import { userInfo } from 'node:os'
import { SKILLS } from '@chimera/dialects/skills/contracts'
import type { SkillId } from '@chimera/dialects/skills/error-codes'
import type { PublishContentInput } from '@chimera/dialects/skills/schema'
import type { Issue } from '@chimera/domain/decision'
import { LIMITS } from '@chimera/domain/limits'
import { createChance } from '@chimera/host/chance'
import { createClock } from '@chimera/host/clock'
import { redactText } from '@chimera/host/redact'
import type { CallOutcome, RunnerEvent } from '@chimera/skill/calls'
import {
  type FieldShown,
  isSkillName,
  presetsFor,
  SKILL_NAMES,
  type SkillShown,
  showShapes,
  showSkill,
} from '@chimera/skills/catalogue'
import { exampleOf } from '@chimera/skills/examples'
import { createTally, showNanos } from '@chimera/skills/models/prices'
import { approveContent } from '@chimera/skills/providers/approve'
import { type Behind, describeBehind } from '@chimera/skills/providers/behind'
import { runSkill } from '@chimera/skills/run-skill'
import { Command } from 'commander'
import { INPUT_ABOUT, readInput } from '../input.ts'
import {
  type ProviderFlags,
  readProviders,
  toTrouble,
  withProviderFlags,
} from '../providers-file.ts'
import { plain, printJson, printTable } from '../show.ts'
import { FAILED, MISUSED, Trouble } from '../trouble.ts'

export function skillVerb(): Command {
  return new Command('skill')
    .description('Run one of the ten skills here, or look at what it takes')
    .addCommand(
      withProviderFlags(new Command('list'))
        .description('The ten skills, and what each of them stands on')
        .option('--json', 'Print one JSON object.')
        .action(list),
    )
    .addCommand(
      new Command('show')
        .description('One skill: what it takes and gives, its bounds, defaults, times and errors')
        .argument('<name>', 'The skill, such as fetch_trends')
        .option('--json', 'Print one JSON object.')
        .action(show),
    )
    .addCommand(
      new Command('example')
        .description('An input to begin with, as JSON')
        .argument('<name>', 'The skill, such as fetch_trends')
        .action(example),
    )
    .addCommand(
      withProviderFlags(new Command('approve'))
        .description('Approve content as a person, for publish_content: its input with the token')
        .requiredOption('--input <file>', `An input of publish_content. ${INPUT_ABOUT}`)
        .option('--reviewer <name>', 'Who has looked at it; whoever runs this if nothing is said.')
        .action(approve),
    )
    .addCommand(
      withProviderFlags(new Command('run'))
        .description('Run a skill: JSON goes in, JSON comes out')
        .argument('<name>', 'The skill, such as fetch_trends')
        .requiredOption('--input <file>', `${INPUT_ABOUT} A name without @ is a file, too.`)
        .option('--quiet', 'Say nothing on standard error but what went wrong.')
        .option('--json', 'Print the whole outcome: how it ended, how long it took, what it cost.')
        .action(run),
    )
    .addHelpText(
      'after',
      `
Each skill runs on this machine alone, on embedded providers that say what they are. With
chimera.config.ts, .mjs or .json, or with variables such as GEMINI_API_KEY, they stand on yours:
\`chimera providers check\` tries them, docs/concepts/providers.md tells how.

Examples:
  chimera skill list
  chimera skill show semantic_filter
  chimera skill example generate_content > brief.json
  chimera skill run generate_content --input brief.json
  echo '{"platform":"news","limit":3}' | chimera skill run fetch_trends --input -
  chimera skill example publish_content | chimera skill approve --input - > approved.json
  chimera skill run publish_content --input approved.json
  chimera skill example debit_wallet | chimera skill run debit_wallet --input -
  chimera skill run get_agent_profile --input '{"agent_id":"…"}' --json

Exit status: 0 done, 1 it ended in one of its errors, 2 the input or the settings make no sense.`,
    )
}

type Flags = ProviderFlags & { readonly json?: boolean; readonly quiet?: boolean }

async function list({ json = false, ...flags }: Flags): Promise<void> {
  const { settings, file } = await readProviders(flags)
  const behind = SKILL_NAMES.map((name) => describeBehind(name, settings))
  if (json) {
    const skills = behind.map(({ skill, ...stands }) => {
      const { version, purpose } = showSkill(skill)
      return { skill, version, purpose, ...stands }
    })
    return printJson({ ...(file !== undefined && { config: file }), skills })
  }
  printTable(
    [{ title: 'SKILL' }, { title: 'DOES' }, { title: 'STANDS ON' }],
    behind.map(({ skill, by, embedded }) => [
      skill,
      SKILLS[skill].purpose,
      `${by.join('; ')}${embedded ? ' (embedded)' : ''}`,
    ]),
  )
}

function show(name: string, { json = false }: Flags): void {
  const shown = showSkill(nameIn(name))
  if (json) printJson(shown)
  else showTables(shown)
}

function showTables(shown: SkillShown): void {
  console.log(`${shown.name}@${shown.version}: ${shown.purpose}.`)
  for (const line of timesOf(shown)) console.log(line)
  for (const [title, fields] of [
    ['TAKES', shown.input],
    ['GIVES', shown.output],
  ] as const) {
    console.log()
    printFields(title, fields)
  }
  for (const { name, fields } of showShapes()) {
    if (!shown.input.some(({ type }) => type.includes(name))) continue
    console.log()
    printFields(name.toUpperCase(), fields)
  }
  console.log()
  printTable(
    [{ title: 'ERROR' }, { title: 'HTTP', align: 'right' }, { title: 'WHAT FOLLOWS' }],
    shown.errors.map(({ code, http, recovery }) => [code, http, recovery]),
  )
  console.error('* must be given. `chimera skill example` prints an input to begin with.')
}

function printFields(title: string, fields: readonly FieldShown[]): void {
  printTable(
    [{ title }, { title: 'TYPE' }, { title: 'BOUNDS' }, { title: 'DEFAULT' }],
    fields.map(({ name, required, type, bounds, preset }) => [
      required ? `${name} *` : name,
      type,
      bounds === '' ? undefined : bounds,
      preset,
    ]),
  )
}

function timesOf({ timeoutMs, partsMs, cacheMs, once }: SkillShown): readonly string[] {
  const parts = Object.entries(partsMs).map(([part, ms]) => `${ms / 1_000} s for each ${part}`)
  const time = [`${timeoutMs / 1_000} s for one attempt`, ...parts].join(', ')
  const kept = cacheMs === undefined ? 'not cached' : `cached for ${cacheMs / 1_000} s`
  return [`${time}; ${kept}${once === undefined ? '' : `; once for each ${once}`}.`]
}

function example(name: string): void {
  const { uuid } = createChance()
  printJson(exampleOf(nameIn(name), { now: createClock().now(), uuid }))
}

/** A person's word for these bytes: from the hub where there is one, else from this machine. */
async function approve(options: Flags & { readonly input: string; readonly reviewer?: string }) {
  const { input: said, reviewer = userInfo().username, ...flags } = options
  const { settings, directory } = await readProviders(flags)
  const input: Readonly<Record<string, unknown>> = await inputIn(said)
  const asked: PublishContentInput = Object(input)
  const { token, by } = await approveContent({ asked, reviewer }, settings, { directory }).catch(
    (error: unknown) => {
      throw toTrouble(error, directory)
    },
  )
  console.error(`${plain(reviewer)} approves it for two hours, by the word of ${by}.`)
  printJson({ ...input, approval_token: token })
}

/** A name without @ is a file, too. */
function inputIn(said: string): Promise<Readonly<Record<string, unknown>>> {
  const isPlain = said === '-' || said.startsWith('@') || said.trimStart().startsWith('{')
  return readInput(isPlain ? said : `@${said}`, LIMITS.skillBytes)
}

async function run(name: string, options: Flags & { readonly input: string }): Promise<void> {
  const skill = nameIn(name)
  const { input: said, json = false, quiet = false, ...flags } = options
  const { settings, directory } = await readProviders(flags)
  const input = await inputIn(said)
  const say = (line: string): void => {
    if (!quiet) console.error(plain(line))
  }
  const behind = describeBehind(skill, settings)
  say(standsOn(behind))
  for (const line of presetLines(skill, input)) say(line)

  const tally = createTally()
  const failures: string[] = []
  const outcome: CallOutcome = await runSkill(skill, Object(input), {
    providers: settings,
    directory,
    onUse: tally.add,
    onProgress: ({ share, note }) => say(`${Math.round(share * 100)} %  ${note ?? ''}`.trimEnd()),
    log: ({ level, message }) => level !== 'debug' && level !== 'info' && say(message),
    watch: (event) => void failures.push(...detailsOf(event)),
  }).catch((error: unknown) => {
    throw toTrouble(error, directory)
  })
  const { calls, costNanos, unpriced } = tally.total()
  const cost = showNanos(costNanos)
  if (json)
    printJson({ ...encode(outcome), stands_on: behind, model_calls: calls, model_cost: cost })
  else if (outcome.ok) printJson(outcome.output)
  if (!outcome.ok) {
    for (const line of [...linesOf(skill, input, outcome), ...new Set(failures)])
      console.error(plain(line))
    process.exitCode = outcome.error.why === 'input_invalid' ? MISUSED : FAILED
    return
  }
  const { durationMs, retries, recovered } = outcome
  const tries = retries === 0 ? '' : `, after ${retries} ${retries === 1 ? 'retry' : 'retries'}`
  const dear =
    calls === 0
      ? ''
      : `; ${calls} answers of models, ${cost}${unpriced > 0 ? ' and some without a price' : ''}`
  say(`Done in ${durationMs} ms${tries}${dear}.`)
  if (recovered !== undefined) {
    const row = showSkill(skill).errors.find(({ code }) => code === recovered)
    say(`It stands in for ${recovered}${row === undefined ? '' : `: ${row.words}`}`)
    for (const line of new Set(failures)) say(line)
  }
}

const standsOn = ({ skill, by, embedded, note }: Behind): string => {
  const how = embedded ? 'the embedded default: ' : ''
  return `${skill} stands on ${how}${by.join('; ')}${note === undefined ? '' : ` (${note})`}.`
}

/** What the runner will fill in where nothing was said. */
function presetLines(skill: SkillId, input: Readonly<Record<string, unknown>>): readonly string[] {
  const added = Object.entries(presetsFor(skill, input))
  if (added.length === 0) return []
  return [
    `Defaults: ${added.map(([name, value]) => `${name} = ${JSON.stringify(value)}`).join(', ')}`,
  ]
}

/** For whoever runs it: what the caller of a network never reads. */
function detailsOf(event: RunnerEvent): readonly string[] {
  if (event.is !== 'failed' && event.is !== 'escalated') return []
  if (event.is === 'failed' && event.why === 'input_invalid') return []
  return [`Detail: ${redactText(event.detail, { showInside: true })}`]
}

type Failed = Extract<CallOutcome, { ok: false }>

function linesOf(skill: SkillId, input: unknown, { error, retries }: Failed): readonly string[] {
  const { code, message, needs, why, retryable } = error
  const issues = why === 'input_invalid' ? issuesIn(skill, input, error.issues) : error.issues
  const tried = retries === 0 ? '' : ` (tried ${retries + 1} times)`
  return [
    `${code}: ${message}${tried}`,
    ...issues.map(({ path, expected, got }) => `  ${path}: expected ${expected}; came ${got}.`),
    ...(why === 'input_invalid'
      ? [
          `\`chimera skill show ${skill}\` says what it takes,`,
          `\`chimera skill example ${skill}\` prints one to begin with.`,
        ]
      : []),
    ...(needs === undefined ? [] : [NEEDS[needs]]),
    ...(code === 'UNAUTHENTICATED' || code === 'FORBIDDEN' ? [PROVE] : []),
    ...(retryable
      ? ['The same again may succeed later; `chimera providers check` tries what it stands on.']
      : []),
  ]
}

/** The contract's own check knows the words that a schema lists, and says them. */
function issuesIn(skill: SkillId, input: unknown, known: readonly Issue[]): readonly Issue[] {
  const { checkInput } = SKILLS[skill]
  const checked = checkInput(input)
  return checked.ok ? known : (checked.particulars.issues ?? known)
}

const NEEDS = {
  fresh_version:
    'Read the profile anew (get_agent_profile) and say its version as expected_version.',
  new_approval: 'A person must approve it anew.',
  same_key: 'Ask again with the same idempotency_key: it is never done twice.',
} as const

const PROVE =
  'Present a token (CHIMERA_TOKEN) or sign with a key (providers.hub.key) of whoever may.'

function encode(outcome: CallOutcome): object {
  const { skill, durationMs, retries, from } = outcome
  const how = { skill, duration_ms: durationMs, retries, from }
  if (!outcome.ok) {
    const { code, message, retryable, http, issues } = outcome.error
    return { ok: false, ...how, error: { code, message, retryable, http, issues } }
  }
  const { output, stale, recovered } = outcome
  return { ok: true, ...how, output, ...(stale && { stale }), ...(recovered && { recovered }) }
}

function nameIn(name: string): SkillId {
  if (isSkillName(name)) return name
  throw new Trouble(`<name>: expected one of ${SKILL_NAMES.join(', ')}; came ${name}.`, MISUSED)
}
