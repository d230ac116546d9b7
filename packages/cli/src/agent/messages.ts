/**
 * What `chimera agent` and the process that runs the file say to each other. A message goes as JSON
 * between two processes of one installation, so its shape is not checked.
 */
import type { WorkEvent } from './work-events.ts'

/** What was said on the command line; what was not, the file may say. */
export type Wanted = {
  readonly hub?: string
  readonly owner?: string
  readonly name?: string
  readonly token?: string
  /** A directory, or the address of a PostgreSQL. */
  readonly keep?: string
  /** Whether each piece of work is told. */
  readonly telling: boolean
  /** Whether the log is for programs. */
  readonly json: boolean
}

export type ToRunner =
  | { readonly say: 'load'; readonly file: string; readonly wanted: Wanted }
  | { readonly say: 'start'; readonly port?: number }
  | { readonly say: 'stop'; readonly reason: string }

export type SkillTold = { readonly id: string; readonly priceCents: number }

export type Started = {
  readonly id: string
  readonly name: string
  readonly owner: string
  readonly hub: string
  readonly address: string
  readonly skills: readonly SkillTold[]
  /** Where key and id are; absent: nowhere. */
  readonly directory?: string
  readonly durable: boolean
  /** Whether the hub has it; while it does not answer, `registered` comes later. */
  readonly registered: boolean
}

export type FromRunner =
  /** A local file that the skill file is made of. */
  | { readonly say: 'imports'; readonly path: string }
  | { readonly say: 'loaded' }
  | { readonly say: 'started'; readonly started: Started }
  /** The hub has answered at last. */
  | { readonly say: 'registered' }
  /** Nothing more comes from it. Without lines it has said itself what was wrong. */
  | { readonly say: 'failed'; readonly lines: readonly string[]; readonly misused: boolean }
  | { readonly say: 'work'; readonly event: WorkEvent }
  | { readonly say: 'stopped'; readonly notClosed: readonly string[] }
