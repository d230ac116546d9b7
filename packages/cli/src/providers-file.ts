/**
 * What stands behind the skills, from where a user says it: `chimera.config.ts`, `.mjs` or `.json`
 * where the command runs, or the file of `--config`; and variables for what no file says.
 */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { describeProblem } from '@chimera/host/settings/problems'
import { resolveSettings } from '@chimera/host/settings/resolve'
import { HUB_SETTINGS } from '@chimera/hub/settings'
import { withEnvironment } from '@chimera/skills/providers/environment'
import {
  describeIssue,
  type ProviderSettings,
  ProvidersWrong,
  readProviderSettings,
} from '@chimera/skills/providers/settings'
import type { Command } from 'commander'
import { loadModule } from './load-module.ts'
import { codeOf, MISUSED, Trouble } from './trouble.ts'

export type ProviderFlags = {
  readonly config?: string
  readonly data?: string
  readonly embedded?: boolean
}

export type Providers = {
  readonly settings: ProviderSettings
  /** The file that was read; absent: there is none. */
  readonly file?: string
  /** Where the embedded providers keep what must outlive the command. */
  readonly directory: string
}

const NAMES = ['ts', 'mts', 'mjs', 'js', 'json'].map((ending) => `chimera.config.${ending}`)

export function withProviderFlags(verb: Command): Command {
  return verb
    .option('--config <file>', 'The settings file; chimera.config.ts, .mjs or .json if it is here.')
    .option('--data <directory>', 'Where the embedded providers keep their state; .chimera.')
    .option('--embedded', 'Use nothing that is configured: only what is on this machine.')
}

export async function readProviders(flags: ProviderFlags): Promise<Providers> {
  const directory = join(await dataIn(flags), 'skills')
  if (flags.embedded) return { settings: {}, directory }
  const file = flags.config ?? usualFile()
  const said = file === undefined ? {} : await providersIn(file)
  const settings = checked(withEnvironment(checked(said, file), process.env))
  return { settings, directory, ...(file !== undefined && { file }) }
}

async function dataIn({ data }: ProviderFlags): Promise<string> {
  const { CHIMERA_DATA } = process.env
  const settings = await resolveSettings(
    { data: HUB_SETTINGS.data },
    { flags: data === undefined ? {} : { data }, env: { CHIMERA_DATA }, read: noFile },
  )
  if (settings.ok) return settings.values.data
  throw new Trouble(settings.problems.map(describeProblem), MISUSED)
}

/** Another part of the settings file is the hub's, and not looked at for this. */
const noFile = async (): Promise<string> => {
  throw Object.assign(new Error('not read'), { code: 'ENOENT' })
}

function usualFile(): string | undefined {
  const [found, ...others] = NAMES.filter((name) => existsSync(name))
  if (others.length === 0) return found
  const named = [found, ...others].join(', ')
  throw new Trouble(
    `There is more than one settings file here: ${named}. Say which with --config.`,
    MISUSED,
  )
}

async function providersIn(file: string): Promise<unknown> {
  const config = extname(file) === '.json' ? await fromJson(file) : await fromModule(file)
  const { providers = {} }: { readonly providers?: unknown } = Object(config)
  return providers
}

async function fromJson(file: string): Promise<unknown> {
  const text = await readFile(file, 'utf8').catch(() => {
    throw unreadable(file)
  })
  try {
    return JSON.parse(text)
  } catch {
    throw new Trouble(`${file}: expected one JSON object; came no JSON.`, MISUSED)
  }
}

async function fromModule(file: string): Promise<unknown> {
  if (!existsSync(file)) throw unreadable(file)
  return (await loadModule(file)).default
}

const unreadable = (file: string): Trouble =>
  new Trouble(`--config: expected a file that can be read; came ${file}.`, MISUSED)

function checked(value: unknown, file = 'the variables'): ProviderSettings {
  try {
    return readProviderSettings(value)
  } catch (error) {
    throw toTrouble(error, '', `The providers in ${file} make no sense:`)
  }
}

/** What opening providers may fail with, and what to do next. */
export function toTrouble(
  error: unknown,
  directory: string,
  head = 'The providers cannot be used:',
): unknown {
  if (error instanceof ProvidersWrong) {
    return new Trouble([head, ...error.issues.map(describeIssue), NEXT], MISUSED)
  }
  if (codeOf(error) !== 'answers_locked') return error
  return new Trouble([
    `Another process keeps its state in ${directory}.`,
    'Wait until it has ended, or name another directory with --data.',
  ])
}

const NEXT = 'docs/concepts/providers.md says what may stand there; --embedded does without.'
