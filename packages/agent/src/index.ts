/** What an agent author installs: serving skills, and hiring others. */
export { defineSkill, Type } from '@chimera/skill/define'
export type { BusNeeds, BusOption, BusPort } from './bus/port.ts'
export { type Agent, AgentError, type AgentOptions, createAgent } from './create.ts'
export {
  type ConnectOptions,
  connect,
  type Network,
  type Reservation,
} from './hire/connect.ts'
export type { Directory, DirectoryOptions } from './hire/directory.ts'
export { HireFailure, type HireFailureCode } from './hire/failure.ts'
export type { Hired } from './hire/hire.ts'
export type { HireStep } from './hire/steps.ts'
export type { HireTerms } from './hire/terms.ts'
export { secretFromFile, tlsFromFiles } from './voice/feed-door.ts'
export type { FeedSettings } from './voice/voices.ts'
export { type FileKeep, openFileKeep } from './work/file-keep.ts'
export type { Keep, KeptWork } from './work/keep.ts'
export { createMemoryKeep } from './work/memory-keep.ts'
