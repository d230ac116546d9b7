/**
 * What every engine must do, as one suite. The files beside it name the engines.
 */

import { afterAll, beforeAll, describe } from 'vitest'
import type { Database } from '../src/engine/database.ts'
import { openDatabase } from '../src/engine/open.ts'
import { migrate } from '../src/migrate.ts'
import { agentsContract } from './contract-agents.ts'
import { allowancesContract } from './contract-allowances.ts'
import { answersContract } from './contract-answers.ts'
import { controlContract } from './contract-control.ts'
import { deliveriesContract } from './contract-deliveries.ts'
import { engineContract } from './contract-engine.ts'
import { factsContract } from './contract-facts.ts'
import { lanesContract } from './contract-lanes.ts'
import { ledgerContract } from './contract-ledger.ts'
import { liveContract } from './contract-live.ts'
import { namesContract } from './contract-names.ts'
import { noncesContract } from './contract-nonces.ts'
import { observationsContract } from './contract-observations.ts'
import { postsContract } from './contract-posts.ts'
import { presenceContract } from './contract-presence.ts'
import { profilesContract } from './contract-profiles.ts'
import { registryContract } from './contract-registry.ts'
import { reservationsContract } from './contract-reservations.ts'
import { resultsContract } from './contract-results.ts'
import { schemaContract } from './contract-schema.ts'
import { toldContract } from './contract-told.ts'
import { walletContract } from './contract-wallet.ts'
import { START } from './hands.ts'

export type Engine = {
  readonly name: string
  readonly start: () => Promise<void>
  readonly stop: () => Promise<void>
  /** Of a new and empty database. */
  readonly newAddress: () => Promise<string>
}

/** Opening a database takes a while, so a few serve all tests, which run one after another. */
export type Stage = {
  readonly engine: Engine
  /** With all tables, for tests that keep to names of their own. */
  readonly shared: () => Database
  /** With all tables, and nothing in them. Until the next one is asked for. */
  readonly fresh: () => Promise<{ readonly database: Database; readonly address: string }>
  /** Without any table. Until the next one is asked for. */
  readonly empty: () => Promise<Database>
}

const WIPE = `
  DROP SCHEMA public CASCADE;
  CREATE SCHEMA public;
  GRANT USAGE ON SCHEMA public TO PUBLIC`

export function storeContract(engine: Engine): void {
  type Opened = { readonly database: Database; readonly address: string }
  const opened = new Map<string, Opened>()

  async function open(name: 'shared' | 'fresh' | 'empty'): Promise<Opened> {
    const known = opened.get(name)
    if (known !== undefined) {
      await known.database.transaction((tx) => tx.query(WIPE), { role: 'owner' })
      return known
    }
    const address = await engine.newAddress()
    const made = { address, database: await openDatabase(address) }
    opened.set(name, made)
    return made
  }
  async function migrated(name: 'shared' | 'fresh'): Promise<Opened> {
    const made = await open(name)
    await migrate(made.database, { now: START })
    return made
  }
  const stage: Stage = {
    engine,
    shared: () => {
      const database = opened.get('shared')?.database
      if (database === undefined) throw new Error('not open yet')
      return database
    },
    fresh: () => migrated('fresh'),
    empty: async () => (await open('empty')).database,
  }

  describe(engine.name, { timeout: 60_000 }, () => {
    beforeAll(async () => {
      await engine.start()
      await migrated('shared')
    }, 120_000)
    afterAll(async () => {
      for (const { database } of opened.values()) await database.close()
      await engine.stop()
    }, 60_000)

    engineContract(stage)
    factsContract(stage)
    ledgerContract(stage)
    lanesContract(stage)
    reservationsContract(stage)
    answersContract(stage)
    registryContract(stage)
    namesContract(stage)
    observationsContract(stage)
    presenceContract(stage)
    liveContract(stage)
    toldContract(stage)
    noncesContract(stage)
    agentsContract(stage)
    allowancesContract(stage)
    profilesContract(stage)
    deliveriesContract(stage)
    controlContract(stage)
    resultsContract(stage)
    postsContract(stage)
    walletContract(stage)
    schemaContract(stage)
  })
}
