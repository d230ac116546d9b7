/**
 * What every engine must do, as one suite. The files beside it name the engines.
 */

import { afterAll, beforeAll, describe } from 'vitest'
import type { Database } from '../src/engine/database.ts'
import { openDatabase } from '../src/engine/open.ts'
import { migrate } from '../src/migrate.ts'
import { engineContract } from './contract-engine.ts'
import { factsContract } from './contract-facts.ts'
import { ledgerContract } from './contract-ledger.ts'
import { START } from './hands.ts'

export type Engine = {
  readonly name: string
  readonly start: () => Promise<void>
  readonly stop: () => Promise<void>
  /** Of a new and empty database. */
  readonly newAddress: () => Promise<string>
}

/** One database for most tests, which keep to names of their own, and fresh ones where needed. */
export type Stage = {
  readonly engine: Engine
  readonly shared: () => Database
  /** Closed after the tests, if not before. */
  readonly fresh: () => Promise<{ readonly database: Database; readonly address: string }>
}

export function storeContract(engine: Engine): void {
  const opened: Database[] = []
  let shared: Database | undefined

  async function open(): Promise<{ database: Database; address: string }> {
    const address = await engine.newAddress()
    const database = await openDatabase(address)
    opened.push(database)
    await migrate(database, { now: START })
    return { database, address }
  }
  const stage: Stage = {
    engine,
    shared: () => {
      if (shared === undefined) throw new Error('not open yet')
      return shared
    },
    fresh: open,
  }

  describe(engine.name, () => {
    beforeAll(async () => {
      await engine.start()
      shared = (await open()).database
    }, 120_000)
    afterAll(async () => {
      for (const each of opened) await each.close()
      await engine.stop()
    }, 60_000)

    engineContract(stage)
    factsContract(stage)
    ledgerContract(stage)
  })
}
