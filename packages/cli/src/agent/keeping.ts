/** Where work outlives the process: in files, for one process, or in a PostgreSQL. */
import { type Keep, openFileKeep } from '@chimera/agent'
import type { Clock } from '@chimera/host/clock'
import type { Answers } from '@chimera/skill/answers'

export type Opened = {
  readonly keep: Keep
  readonly answers: Answers
  readonly close: () => Promise<void>
}

const SERVER = /^postgres(ql)?:\/\//

export async function openKeep(
  where: string,
  { clock }: { readonly clock: Clock },
): Promise<Opened> {
  if (!SERVER.test(where)) return openFileKeep({ directory: where, clock })
  // Much to load for whoever has no database.
  const { openAgentStore } = await import('@chimera/store/agents')
  return openAgentStore({ database: where, clock })
}
