/**
 * The network of a soak: a hub and the six roles, each side in a process of its own, an owner who
 * has the fleet and another who hires it. What is started here ends in the opposite order.
 */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Caller, createCaller } from './caller.ts'
import type { HubFound, HubWanted } from './hub-part.ts'
import { type Part, startPart } from './part.ts'

export type StageWanted = {
  readonly database?: string | undefined
  readonly bus?: string | undefined
  /** A PostgreSQL and a NATS of this run, where none is named. */
  readonly servers: boolean
  readonly onStep: (step: string) => void
}

export type Owner = { readonly owner: string; readonly token: string; readonly ask: Caller }

export type Stage = {
  readonly address: string
  readonly hub: Part
  readonly fleet: Part
  readonly asOperator: Caller
  readonly hirer: Owner
  readonly owner: Owner
  /** In credits: what the hirer has to spend. */
  readonly given: number
  readonly close: () => Promise<void>
}

/** More than a day of campaigns. */
const MINTED = 1_000_000

export async function openStage(wanted: StageWanted): Promise<Stage> {
  const { onStep } = wanted
  const ends: (() => unknown)[] = []
  const close = async (): Promise<void> => {
    for (const end of ends.splice(0).reverse()) await end()
  }
  try {
    const home = mkdtempSync(join(tmpdir(), 'chimera-soak-'))
    ends.push(() => rmSync(home, { recursive: true, force: true }))
    onStep('starting the hub')
    const { database, bus } = await engines(wanted, ends)
    const hub = startPart('hub', new URL('./hub-part.ts', import.meta.url))
    ends.push(hub.close)
    const told: HubWanted = { data: join(home, 'hub'), database, bus: bus?.split(',') ?? [] }
    const { address, operator } = await hub.ask<HubFound>('start', told)
    const asOperator = createCaller(address, operator)
    const newOwner = async (owner: string): Promise<Owner> => {
      const { token } = await asOperator<{ token: string }>('/v1/owners', { owner_id: owner })
      const ask = createCaller(address, token)
      await ask('/accounts', { owner_id: owner })
      return { owner, token, ask }
    }
    const hirer = await newOwner('hirer')
    const owner = await newOwner('fleet')
    const minted = { transfer_id: randomUUID(), owner_id: hirer.owner, amount: MINTED }
    await asOperator('/v1/mint', minted)
    const { balance } = await hirer.ask<{ balance: number }>(`/accounts/${hirer.owner}`)
    onStep('starting the fleet')
    const fleet = startPart('fleet', new URL('./fleet-part.ts', import.meta.url))
    ends.push(fleet.close)
    const { token } = owner
    await fleet.ask('start', { hub: address, owner: owner.owner, token, directory: home, bus })
    return { address, hub, fleet, asOperator, hirer, owner, given: balance, close }
  } catch (error) {
    await close()
    throw error
  }
}

async function engines(
  { database, bus, servers }: StageWanted,
  ends: (() => unknown)[],
): Promise<{ readonly database?: string; readonly bus?: string }> {
  const named = { ...(database !== undefined && { database }), ...(bus !== undefined && { bus }) }
  if (!servers) return named
  const { startPostgres } = await import('@chimera/store/testing/postgres-server')
  const { startNats } = await import('@chimera/bus/testing/nats-server')
  const postgres = await startPostgres()
  ends.push(postgres.stop)
  const nats = await startNats()
  ends.push(nats.stop)
  return { database: await postgres.newAddress(), bus: nats.address, ...named }
}
