/**
 * The one file that knows which database a hub runs on: it fills the hub's ports from the store.
 */
import { resolve } from 'node:path'
import type { OwnerId } from '@chimera/domain/ids'
import type { Account, Side } from '@chimera/domain/money/ledger'
import type { Chance } from '@chimera/host/chance'
import type { Clock } from '@chimera/host/clock'
import type { Values } from '@chimera/host/settings/declare'
import type { Stop } from '@chimera/host/stop'
import { canonicalDigest } from '@chimera/identity/canonical'
import type { Database } from '@chimera/store/engine/database'
import { openDatabase } from '@chimera/store/engine/open'
import { appendFacts } from '@chimera/store/facts/append'
import { createSealer } from '@chimera/store/facts/sealer'
import { sealedAfter } from '@chimera/store/facts/trail'
import { createLedger } from '@chimera/store/ledger/ledger'
import {
  readAccount,
  readBalances,
  readEconomy,
  readMovement,
  readPayments,
} from '@chimera/store/ledger/reading'
import { migrate } from '@chimera/store/migrate'
import { createPresenceLog } from '@chimera/store/presence'
import { createRegistry } from '@chimera/store/registry/agents'
import { createTokens } from '@chimera/store/registry/tokens'
import type { Keep } from './ports/keep.ts'
import type { HUB_SETTINGS } from './settings.ts'

export type KeepOptions = {
  readonly settings: Pick<Values<typeof HUB_SETTINGS>, 'data' | 'database'>
  readonly clock: Clock
  readonly chance: Chance
  readonly stop: Stop
}

/** In the place of a directory: a database that ends with its process. */
export const MEMORY = ':memory:'

// AV-10: what can be asked for; the day that it began in is kept whole.
const PRESENCE_KEPT_MS = 24 * 60 * 60 * 1_000

export async function openKeep(options: KeepOptions): Promise<Keep> {
  const { settings, clock, stop } = options
  const database = await openDatabase(settings.database ?? embeddedAddress(settings.data))
  stop.register({ name: 'database', close: () => database.close() })
  await migrate(database, { now: clock.now() })
  return keepOf(database, options)
}

function embeddedAddress(data: string): string {
  return data === MEMORY ? 'pglite:memory' : `pglite:${resolve(data)}`
}

function keepOf(database: Database, { clock, chance }: KeepOptions): Keep {
  const ledger = createLedger({ database, clock, chance })
  const sealer = createSealer({ database, digestOf: canonicalDigest })
  const presence = createPresenceLog({ database, clock })
  return {
    agents: createRegistry({ database, clock, chance, digestOf: canonicalDigest }),
    tokens: createTokens({ database, clock }),
    money: {
      submit: async (command, correlation, spend) =>
        (await ledger.submit({ command, correlation, ...(spend && { spend }) })).decision,
      account: (owner) => readAccount(database, owner),
      movement: (transfer) => readMovement(database, transfer),
      payments: (filter) => readPayments(database, filter),
      economy: () => readEconomy(database),
      accounts: async () => accountsIn(await readBalances(database)),
      endDue: () => ledger.endDue(),
    },
    trail: {
      append: (fact, correlation, now) =>
        database.transaction((tx) => appendFacts(tx, [{ fact, recordedAt: now, correlation }])),
      seal: sealer.seal,
      sealedAfter: (seq) => sealedAfter(database, seq),
    },
    presence: {
      append: presence.append,
      find: presence.find,
      turnDays: async () => {
        await presence.prepare()
        await presence.dropBefore(clock.now() - PRESENCE_KEPT_MS)
      },
    },
    check: async () => {
      await database.query('SELECT 1', [])
    },
  }
}

const OWNER = 'owner:'

function accountsIn(balances: ReadonlyMap<Side, number>): readonly Account[] {
  return [...balances].flatMap(([side, balanceCents]) =>
    side.startsWith(OWNER) ? [{ owner: side.slice(OWNER.length) as OwnerId, balanceCents }] : [],
  )
}
