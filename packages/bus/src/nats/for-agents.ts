/**
 * NATS for an agent, in one word: `createAgent({ …, bus: onNats() })`. Without an address the hub
 * says where its broker is, and lets the agent on for some minutes at a time (AV-12).
 *
 *   A1  A grant is asked for when it is needed, and used again while it lasts: a broker that is
 *       away for long costs the hub few grants. One that the broker keeps refusing is replaced.
 *   A2  Streams are the hubs' to make; an agent only writes into them.
 */
import type { Instant } from '@chimera/domain/ids'
import { openBus } from '../bus.ts'
import type { BusChance, BusClock, Dial } from '../link.ts'
import type { StreamPlan } from '../plan.ts'
import type { Bus } from '../port.ts'
import { type NatsAddress, readNatsAddress } from './address.ts'
import type { GetCredentials } from './credentials.ts'
import { createNatsDial, type NatsTls } from './dial.ts'
import { createConnectionKey } from './grants.ts'

export type AgentNeeds = {
  /** What the server's own monitoring calls this client. */
  readonly name: string
  readonly clock: BusClock
  readonly chance: BusChance
  readonly streams: readonly StreamPlan[]
  /** Asks the hub; rejects where it gives none. */
  readonly grant: (publicKey: string) => Promise<AgentGrant>
}

export type AgentGrant = {
  readonly jwt: string
  readonly inbox: string
  readonly addresses: readonly string[]
  readonly expiresAt: Instant
}

export type OnNatsOptions = {
  /** With an address: what is shown there, asked on every dialling. */
  readonly credentials?: GetCredentials
  readonly tls?: NatsTls
}

// A grant that ends while it is shown is of no use.
const SPARE_MS = 60_000
const TRIES_WITH_ONE = 10

/** `held`: everybody there speaks under their own subjects only, as grants see to. */
export function onNats(
  address?: string,
  options: OnNatsOptions = {},
): (needs: AgentNeeds) => Bus & { readonly held: boolean } {
  const named = address === undefined ? undefined : readNatsAddress(address)
  return (needs) => {
    const { clock, chance, streams, name } = needs
    const common = { clock, chance, name, makesPlanned: false, ...tlsOf(options) }
    const dial =
      named === undefined ? dialWithGrants(needs, common) : dialAt(named, common, options)
    return { ...openBus({ dial, clock, chance, streams }), held: named === undefined }
  }
}

function dialAt(
  { addresses, credentials: inAddress }: NatsAddress,
  common: Common,
  { credentials = inAddress && (() => inAddress) }: OnNatsOptions,
): Dial {
  return createNatsDial({ ...common, addresses, ...(credentials && { credentials }) })
}

const tlsOf = ({ tls }: OnNatsOptions) => (tls === undefined ? {} : { tls })

type Common = Omit<Parameters<typeof createNatsDial>[0], 'addresses'>

function dialWithGrants({ clock, chance, grant }: AgentNeeds, common: Common): Dial {
  let granted: (AgentGrant & { readonly seed: string }) | undefined
  let tries = 0

  async function current(): Promise<AgentGrant & { readonly seed: string }> {
    const ends = granted === undefined || granted.expiresAt - clock.now() < SPARE_MS
    if (granted !== undefined && !ends && tries < TRIES_WITH_ONE) return granted
    const { publicKey, seed } = createConnectionKey(chance.bytes)
    granted = { ...(await grant(publicKey)), seed }
    tries = 0
    return granted
  }

  return async (dialOptions) => {
    const { addresses, inbox, jwt, seed } = await current()
    tries += 1
    const credentials = () => ({ kind: 'grant', jwt, seed }) as const
    const link = await createNatsDial({ ...common, addresses, inbox, credentials })(dialOptions)
    tries = 0
    return link
  }
}
