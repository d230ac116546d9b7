/**
 * Telling whoever hired how the work ended (OC-17, OC-23): a result that came over HTTP is said
 * where one on the bus would be, under the agent's subject for this hirer.
 */
import { nameRequester } from '@chimera/dialects/openclaw'
import type { AgentId, TaskId } from '@chimera/domain/ids'
import { type EndReported, holdMeant } from '@chimera/domain/work/result'
import type { Hub } from './hub.ts'

/** Whoever misses it asks for it, so nothing depends on its being said. */
export async function tellHirer(hub: Hub, report: EndReported, message: object): Promise<void> {
  const alone = hub.share.broker().type === 'none'
  const unnamed = report.requester === undefined && !alone
  const hirer = unnamed ? await findHirer(hub, report).catch(() => undefined) : undefined
  hub.publish('result', nameRequester(message, hirer))
}

/** The document's result does not say whom it is for; the hold may know. */
async function findHirer(
  hub: Hub,
  { agent, task, work }: EndReported,
): Promise<AgentId | undefined> {
  const holds = await hub.keep.results.holdsFor(agent, [task, work as string as TaskId])
  return holdMeant(holds, { agent })?.hirer
}
