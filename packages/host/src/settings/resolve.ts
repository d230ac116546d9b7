/**
 * From what was declared and what was said to what holds.
 *
 *   R1  Flag over environment over settings file over default.
 *   R2  Every problem is reported, in one go; with any, nothing is resolved.
 *   R3  What is resolved is frozen. Only a secret that comes from a file, and is declared so,
 *       changes, behind its `reveal`.
 *   R4  What a stronger source overrules is not looked at.
 */
import { createReadStream } from 'node:fs'
import type { Declared, Setting, Values } from './declare.ts'
import { describeValue, type Problem } from './problems.ts'
import { keepSecret } from './secret.ts'
import { createSecretFiles, readSecret, type SecretFile, type SecretFiles } from './secret-files.ts'
import {
  type Fields,
  type Read,
  readSettingsFile,
  type Said,
  type Sources,
  said,
  unknownNames,
} from './sources.ts'

export type SettingsOptions = {
  readonly flags?: Fields
  readonly env?: Sources['env']
  /** The settings file that somebody named; the usual one is looked for otherwise. */
  readonly config?: string
  readonly read?: Read
}

export type Settings<D extends Declared> = {
  readonly ok: true
  readonly values: Values<D>
  /** Where each value was said: `the flag --listen`, `default`. */
  readonly origins: Readonly<Record<keyof D, string>>
  readonly secretFiles: SecretFiles
}

export type SettingsResolved<D extends Declared> =
  | Settings<D>
  | { readonly ok: false; readonly problems: readonly Problem[] }

const DEFAULT = 'default'

export async function resolveSettings<D extends Declared>(
  declared: D,
  options: SettingsOptions = {},
): Promise<SettingsResolved<D>> {
  const { flags = {}, env = process.env, config, read = readText } = options
  const found = await readSettingsFile(config, read)
  const file = found.ok ? found.file : { name: config ?? '', fields: {} }
  const sources: Sources = { flags, env, file }

  const problems: Problem[] = found.ok ? [] : [found.problem]
  const values: Record<string, unknown> = {}
  const origins: Record<string, string> = {}
  const files: SecretFile[] = []
  for (const [name, setting] of Object.entries(declared)) {
    const outcome = await resolveOne(name, setting, said(name, declared, sources), read)
    if (!outcome.ok) problems.push(outcome.problem)
    else {
      values[name] = outcome.value
      origins[name] = outcome.origin
      if (outcome.file && setting.reload) files.push(outcome.file)
    }
  }
  problems.push(...unknownNames(declared, sources))

  if (problems.length > 0) return { ok: false, problems }
  return {
    ok: true,
    // Each was read by its own setting, which is what `Values` says of it.
    values: Object.freeze(values) as Values<D>,
    origins: Object.freeze(origins) as Record<keyof D, string>,
    secretFiles: createSecretFiles(files, read),
  }
}

type One =
  | { readonly ok: true; readonly value: unknown; readonly origin: string; file?: SecretFile }
  | { readonly ok: false; readonly problem: Problem }

async function resolveOne(
  name: string,
  setting: Setting<unknown>,
  places: readonly Said[],
  read: Read,
): Promise<One> {
  const { expected, fallback, secret } = setting
  const [place, another] = places
  const wrong = (terms: Omit<Problem, 'setting'>): One => ({
    ok: false,
    problem: { setting: name, ...terms },
  })
  if (!place) {
    if (!fallback) return wrong({ expected, got: 'nothing' })
    return { ok: true, value: fallback.value, origin: DEFAULT }
  }
  const { raw, from, byFile } = place
  if (another) return wrong({ from, expected: 'this or a file, not both', got: another.from })

  if (byFile) {
    const reading = await readSecret(name, setting, place, read)
    if (!reading.ok) return reading
    const kept = keepSecret(reading.value)
    const file: SecretFile = { name, setting, said: place, kept }
    return { ok: true, value: kept.secret, origin: from, file }
  }
  const value = setting.read(raw)
  if (value === undefined) return wrong({ from, expected, got: describeValue(raw, secret) })
  const kept = secret && typeof value === 'string' ? keepSecret(value).secret : value
  return { ok: true, value: kept, origin: from }
}

// A secret or a settings file is a few kilobytes; of a device or a log no more than this is read.
const MOST_BYTES = 1024 * 1024

async function readText(path: string): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of createReadStream(path, { end: MOST_BYTES })) chunks.push(chunk)
  const bytes = Buffer.concat(chunks)
  if (bytes.length > MOST_BYTES) throw Object.assign(new Error('too large'), { code: 'EFBIG' })
  return bytes.toString('utf8')
}
