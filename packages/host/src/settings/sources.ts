/**
 * Where settings are said, strongest first: flag, environment, settings file. The default comes
 * last and is part of the declaration.
 *
 *   O1  The settings file is one JSON object. If it is named it must be there; the usual one may
 *       be missing.
 *   O2  A variable that is set to nothing is not set: that is how many tools unset one.
 *   O3  A name in the file or among the flags that no setting has is a problem, not a silent typo.
 *       The file has one part that is not ours: what stands behind the skills.
 */
import { type Declared, flagOf, variableOf } from './declare.ts'
import { describeValue, type Problem } from './problems.ts'

export type Read = (path: string) => Promise<string>
export type Fields = Readonly<Record<string, unknown>>

export type Sources = {
  /** By the setting's name, as a command line parser gives them. */
  readonly flags: Fields
  readonly env: Readonly<Record<string, string | undefined>>
  readonly file: { readonly name: string; readonly fields: Fields }
}

/** What somebody said about one setting, and where. */
export type Said = {
  readonly raw: unknown
  readonly from: string
  /** Whether it is the path of a file that holds the value. */
  readonly byFile: boolean
}

export const SETTINGS_FILE = 'chimera.config.json'
/** The part of the settings file that skills read, by rules of their own. */
const PROVIDERS = 'providers'

export type FileFound =
  | { readonly ok: true; readonly file: Sources['file'] }
  | { readonly ok: false; readonly problem: Problem }

export async function readSettingsFile(named: string | undefined, read: Read): Promise<FileFound> {
  const name = named ?? SETTINGS_FILE
  const wrong = (expected: string, got: string): FileFound => ({
    ok: false,
    problem: { setting: 'config', from: `the file ${name}`, expected, got },
  })
  let text: string
  try {
    text = await read(name)
  } catch (cause) {
    if (named === undefined && codeOf(cause) === 'ENOENT') return found(name, {})
    return wrong('a file that can be read', codeOf(cause))
  }
  try {
    const fields: unknown = JSON.parse(text)
    if (isObject(fields)) return found(name, fields)
    return wrong('one JSON object', describeValue(fields, true))
  } catch {
    // The parser quotes what it read, which may be a secret.
    return wrong('one JSON object', 'no JSON')
  }
}

/** What was said about a setting by its strongest source; two things are one too many. */
export function said(name: string, declared: Declared, sources: Sources): readonly Said[] {
  const setting = declared[name]
  if (!setting) return []
  const variable = variableOf(name, setting)
  const { flags, env, file } = sources
  const places: readonly (readonly Said[])[] = [
    [
      { raw: own(flags, name), from: `the flag ${flagOf(name)}`, byFile: false },
      { raw: own(flags, `${name}File`), from: `the flag ${flagOf(name)}-file`, byFile: true },
    ],
    [
      { raw: env[variable], from: `the variable ${variable}`, byFile: false },
      { raw: env[`${variable}_FILE`], from: `the variable ${variable}_FILE`, byFile: true },
    ].filter(({ raw }) => raw !== ''),
    [
      { raw: own(file.fields, name), from: `"${name}" in ${file.name}`, byFile: false },
      { raw: own(file.fields, `${name}File`), from: `"${name}File" in ${file.name}`, byFile: true },
    ],
  ]
  for (const place of places) {
    const here = place.filter(({ raw, byFile }) => raw !== undefined && (setting.secret || !byFile))
    if (here.length > 0) return here
  }
  return []
}

/** O3. */
export function unknownNames(declared: Declared, { flags, file }: Sources): readonly Problem[] {
  const known = new Set(
    Object.entries(declared).flatMap(([name, { secret }]) =>
      secret ? [name, `${name}File`] : [name],
    ),
  )
  const unknownOf = (fields: Fields, from: (name: string) => string): readonly Problem[] =>
    Object.keys(fields)
      .filter((name) => !known.has(name) && fields[name] !== undefined)
      .map((name) => ({
        setting: name,
        from: from(name),
        expected: 'the name of a setting',
        got: 'one that nobody reads',
      }))
  return [
    ...unknownOf(flags, (name) => `the flag ${flagOf(name)}`),
    ...unknownOf(file.fields, () => file.name).filter(({ setting }) => setting !== PROVIDERS),
  ]
}

export function codeOf(cause: unknown): string {
  const code = isObject(cause) ? cause.code : undefined
  return typeof code === 'string' ? code : 'an unknown error'
}

const found = (name: string, fields: Fields): FileFound => ({ ok: true, file: { name, fields } })

const own = (fields: Fields, name: string): unknown =>
  Object.hasOwn(fields, name) ? fields[name] : undefined

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
