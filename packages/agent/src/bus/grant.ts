/** Asks the hub to let a connection of this agent onto its broker, for some minutes (AV-12). */
import { encodeNewGrant, readGrant } from '@chimera/dialects/chimera'
import type { InstanceId } from '@chimera/domain/ids'
import type { HubClient } from '../hub/client.ts'
import type { BusNeeds } from './port.ts'

const ASKING_MS = 5_000

export function createGranting(
  hub: Pick<HubClient, 'post'>,
  instance: InstanceId,
): BusNeeds['grant'] {
  return async (publicKey) => {
    const wanted = encodeNewGrant({ connection: publicKey, instances: [instance] })
    // Whoever dials dials again.
    const answer = await hub.post('/v1/grants', wanted, { tries: 1, timeoutMs: ASKING_MS })
    if (!answer.ok) throw new Error(`the hub gives no grant for its broker: ${answer.code}`)
    const read = readGrant(answer.body)
    if (!read.ok) throw new Error('the hub gives a grant that cannot be read')
    const { grant: jwt, inbox, addresses, expiresAt } = read.value
    return { jwt, inbox, addresses, expiresAt }
  }
}
