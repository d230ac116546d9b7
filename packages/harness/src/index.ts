/** A whole network in memory under a virtual clock, for authors' tests and for ours. */
export type { BooksSeen } from './books.ts'
export { type HarnessCode, HarnessError } from './error.ts'
export {
  createFaultProxy,
  type FaultProxy,
  type FaultProxyOptions,
  type Passed,
  type Passing,
} from './fault-proxy.ts'
export {
  createHarness,
  type Harness,
  type HarnessOptions,
  type Hirer,
  type HirerOptions,
} from './harness.ts'
export {
  type Answering,
  createIngestion,
  type Ingestion,
  type IngestionAuth,
  type IngestionOptions,
  type Received,
} from './ingestion.ts'
export type { Member, MemberOptions } from './member.ts'
export type { Asked, Mix, Plan } from './plan.ts'
