/**
 * The vectors: messages that must be accepted and messages that must be refused, one file each,
 * under `vectors/<dialect>/<message>/{accept,reject}/`. They are data, so that anybody who writes
 * an implementation in another language can use them.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export type Vector = {
  readonly dialect: string
  readonly message: string
  readonly name: string
  readonly verdict: 'accept' | 'reject'
  /** What an implementer would get wrong. */
  readonly why: string
  /** The document and section, or the requirement, that decides it. */
  readonly spec: string
  readonly wire: unknown
  /**
   * Accept: what it must mean, in part or in full. Reject: the paths that must be complained of.
   */
  readonly expect: Readonly<Record<string, unknown>> | { readonly paths: readonly string[] }
}

const ROOT = fileURLToPath(new URL('vectors', import.meta.url))

export function loadVectors(): readonly Vector[] {
  return foldersOf(ROOT).flatMap((dialect) =>
    foldersOf(join(ROOT, dialect)).flatMap((message) =>
      (['accept', 'reject'] as const).flatMap((verdict) => {
        const folder = join(ROOT, dialect, message, verdict)
        return filesOf(folder).map((name) => ({
          ...JSON.parse(readFileSync(join(folder, name), 'utf8')),
          dialect,
          message,
          verdict,
          name: name.replace(/\.json$/, ''),
        }))
      }),
    ),
  )
}

const foldersOf = (path: string): string[] =>
  readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()

const filesOf = (path: string): string[] => readdirSync(path).sort()
