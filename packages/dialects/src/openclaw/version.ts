/**
 * The protocol's version (OC-21). A message without one is of 1.0.0; a newer minor only adds and is
 * read as it is; another major is not judged by the schemas of this one, so it is asked for first.
 */
import { type Refused, refuse } from '@chimera/domain/decision'

export const PROTOCOL_VERSION = '1.0.0'
export const SPOKEN_VERSIONS: readonly string[] = [PROTOCOL_VERSION]

const MAJOR = 1

/** The document's own pattern, and a length that no version needs. */
export const SEMVER = '^\\d+\\.\\d+\\.\\d+$'
export const LONGEST = 32

/**
 * The versions that are spoken, when the message's own is not among them; for `Examined`. What is
 * not a version at all is left to the schema, which names the field.
 */
export function spokenVersions(message: unknown): readonly string[] | undefined {
  if (typeof message !== 'object' || message === null) return undefined
  if (!('protocol_version' in message)) return undefined
  const { protocol_version: version } = message
  if (typeof version !== 'string' || version.length > LONGEST) return undefined
  const [, major] = /^(\d+)\.\d+\.\d+$/.exec(version) ?? []
  return major === undefined || Number(major) === MAJOR ? undefined : SPOKEN_VERSIONS
}

/** The same for messages that climb no ladder: identities, status, reputation, answers. */
export function refuseVersion(message: unknown): Refused<'version_unsupported'> | undefined {
  const spoken = spokenVersions(message)
  return spoken && refuse('version_unsupported', { figures: { spoken: spoken.join(', ') } })
}
