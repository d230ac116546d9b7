/**
 * The one file that knows which database and which broker a hub runs on: it fills the hub's ports
 * from the store and the bus.
 */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { openBus } from '@chimera/bus/bus'
import type { Dial } from '@chimera/bus/link'
import { readNatsAddress } from '@chimera/bus/nats/address'
import { checkGranter } from '@chimera/bus/nats/authority'
import { createNatsDial } from '@chimera/bus/nats/dial'
import { inboxOf, signGrant } from '@chimera/bus/nats/grants'
import { isPublicKey } from '@chimera/bus/nats/nkeys'
import { KEPT_SUBJECTS } from '@chimera/dialects/topics'
import type { OwnerId } from '@chimera/domain/ids'
import type { Account, Side } from '@chimera/domain/money/ledger'
import type { Chance } from '@chimera/host/chance'
import { type Clock, createClock } from '@chimera/host/clock'
import type { Values } from '@chimera/host/settings/declare'
import type { Stop } from '@chimera/host/stop'
import { canonicalDigest } from '@chimera/identity/canonical'
import { createAlertLog } from '@chimera/store/alerts'
import { createAllowances } from '@chimera/store/allowances'
import { createApprovals } from '@chimera/store/approvals'
import { createCampaigns } from '@chimera/store/campaigns'
import { createControl } from '@chimera/store/control'
import { createLetters } from '@chimera/store/deliveries/letters'
import { createOutbox } from '@chimera/store/deliveries/outbox'
import type { Database } from '@chimera/store/engine/database'
import { openDatabase } from '@chimera/store/engine/open'
import { appendFacts } from '@chimera/store/facts/append'
import { createSealer } from '@chimera/store/facts/sealer'
import { sealedAfter } from '@chimera/store/facts/trail'
import { createLedger } from '@chimera/store/ledger/ledger'
import {
  readAccount,
  readBalances,
  readCosts,
  readEconomy,
  readHold,
  readHoldOf,
  readHolds,
  readMovement,
  readPayments,
} from '@chimera/store/ledger/reading'
import { readBookSums, readVolume } from '@chimera/store/ledger/sums'
import { transferCredits } from '@chimera/store/ledger/transferring'
import { readLive, readSpan } from '@chimera/store/live'
import { migrate } from '@chimera/store/migrate'
import { createNonces } from '@chimera/store/nonces'
import { createObservations } from '@chimera/store/observations'
import { createPosts } from '@chimera/store/posts'
import { createPresenceLog } from '@chimera/store/presence'
import { createRegistry } from '@chimera/store/registry/agents'
import { createAliases } from '@chimera/store/registry/aliases'
import { createHubKeys } from '@chimera/store/registry/hub-keys'
import { createProfiles } from '@chimera/store/registry/profiles'
import { createTokens } from '@chimera/store/registry/tokens'
import { readReservation, readReservationsOf } from '@chimera/store/reservations/reading'
import { reserveOnce } from '@chimera/store/reservations/reserving'
import { createResults } from '@chimera/store/results'
import { createReviews } from '@chimera/store/reviews'
import { createTold } from '@chimera/store/told'
import { createWebhooks } from '@chimera/store/webhooks'
import { readHoldsFor, readWork } from '@chimera/store/work'
import { GranterBroken, readGranterFile } from './granter-file.ts'
import type { Carrier } from './ports/carrier.ts'
import type { Granting } from './ports/granting.ts'
import type { Keep } from './ports/keep.ts'
import { rememberKeys, rememberTokens } from './remembered.ts'
import type { HUB_SETTINGS } from './settings.ts'

export type KeepOptions = {
  readonly settings: Pick<Values<typeof HUB_SETTINGS>, 'data' | 'database' | 'settlementFee'>
  readonly clock: Clock
  readonly chance: Chance
  readonly stop: Stop
  /** Instead of the usual way to a database, for whoever watches what is asked of it. */
  readonly open?: (address: string) => Promise<Database>
}

// One batch in the database while the other is decided here. More of them only make each smaller.
const SERVER_LANES = 2

/** In the place of a directory: a database that ends with its process. */
export const MEMORY = ':memory:'

// AV-10: what can be asked for; the day that it began in is kept whole.
const PRESENCE_KEPT_MS = 24 * 60 * 60 * 1_000

export async function openKeep(options: KeepOptions): Promise<Keep> {
  const { settings, clock, stop, open = openDatabase } = options
  const database = await open(settings.database ?? embeddedAddress(settings.data))
  stop.register({ name: 'database', close: () => database.close() })
  await migrate(database, { now: clock.now() })
  return keepOf(database, options)
}

export type CarrierOptions = Omit<KeepOptions, 'settings'> & {
  readonly settings: Pick<Values<typeof HUB_SETTINGS>, 'bus' | 'busCreds' | 'busCa' | 'busReplicas'>
  /** Instead of the broker that the settings name. */
  readonly dial?: Dial
}

const DAY_MS = 24 * 60 * 60 * 1_000

// What must not be lost on its way: results and the hub's scores, for those who come back late.
const KEPT_ON_BUS = {
  name: 'chimera-kept',
  subjects: KEPT_SUBJECTS,
  keepMs: 7 * DAY_MS,
  keepMessages: 1_000_000,
  keepBytes: 1024 ** 3,
  // As long as a sender tries.
  dedupeMs: 2 * 60 * 1_000,
}

/** Open at once, whether the broker is there or not; absent where none is named. */
export async function openCarrier(options: CarrierOptions): Promise<Carrier | undefined> {
  const { settings, clock, chance, stop } = options
  if (settings.bus.length === 0 && options.dial === undefined) return undefined
  const bus = openBus({
    dial: options.dial ?? (await dialOf(options)),
    clock,
    chance,
    streams: [{ ...KEPT_ON_BUS, replicas: settings.busReplicas }],
  })
  stop.register({ name: 'bus', close: () => bus.close() })
  return { ...bus, handOut: (handing) => bus.handOut(KEPT_ON_BUS.name, handing) }
}

export type GrantingOptions = {
  readonly settings: Pick<Values<typeof HUB_SETTINGS>, 'bus' | 'busGranter' | 'busPublic'>
}

/** Absent where the hub was given no authority. */
export async function openGranting({ settings }: GrantingOptions): Promise<Granting | undefined> {
  const { bus, busGranter, busPublic } = settings
  if (busGranter === undefined) return undefined
  const told = busPublic.length > 0 ? busPublic : bus
  if (told.length === 0) throw new GranterBroken('--bus-granter needs a broker: name it with --bus')
  // Without what the hub itself shows there.
  const { addresses } = readNatsAddress(told.join(','))
  const granter = await readGranterFile(busGranter)
  checkGranter(granter)
  return {
    addresses,
    sign({ connection, ...asked }) {
      if (!isPublicKey(connection, 'user')) return undefined
      const grant = signGrant(granter, { user: connection, ...asked })
      return { grant, inbox: inboxOf(connection) }
    },
  }
}

async function dialOf({ settings, clock, chance }: CarrierOptions) {
  const { bus, busCreds, busCa } = settings
  const { addresses, credentials } = readNatsAddress(bus.join(','))
  const ca = busCa === undefined ? undefined : await readFile(busCa, 'utf8')
  return createNatsDial({
    addresses,
    clock,
    chance,
    name: 'chimera-hub',
    ...(credentials && { credentials: () => credentials }),
    ...(busCreds !== undefined && {
      credentials: async () => ({ kind: 'creds', text: await readFile(busCreds, 'utf8') }) as const,
    }),
    ...(ca !== undefined && { tls: { ca } }),
  })
}

function embeddedAddress(data: string): string {
  return data === MEMORY ? 'pglite:memory' : `pglite:${resolve(data)}`
}

function keepOf(database: Database, { settings, chance, ...options }: KeepOptions): Keep {
  // Others who are in the way in the database are waited for, whatever time the hub keeps.
  const clock = { now: options.clock.now, sleep: createClock().sleep }
  const terms = { feeBasisPoints: settings.settlementFee }
  const alone = settings.database === undefined
  const lanes = alone ? 1 : SERVER_LANES
  const ledger = createLedger({ database, clock, chance, terms, lanes })
  const sealer = createSealer({ database, digestOf: canonicalDigest })
  const presence = createPresenceLog({ database, clock, lanes })
  const outbox = createOutbox({ database, clock })
  const agents = createRegistry({ database, clock, chance, digestOf: canonicalDigest })
  const tokens = createTokens({ database, clock })
  return {
    agents: alone ? rememberKeys(agents) : agents,
    profiles: createProfiles({ database, clock, chance }),
    hubKeys: createHubKeys({ database, clock, chance }),
    tokens: alone ? rememberTokens(tokens) : tokens,
    nonces: createNonces({ database }),
    // One process alone has the embedded database, and counts its callers by itself.
    ...(settings.database !== undefined && { allowances: createAllowances({ database }) }),
    money: {
      submit: async (command, correlation, spend) =>
        (await ledger.submit({ command, correlation, ...(spend && { spend }) })).decision,
      transfer: (order, correlation, spend) => transferCredits(ledger, order, correlation, spend),
      account: (owner) => readAccount(database, owner),
      hold: (id) => readHold(database, id),
      holdOf: (payer, task) => readHoldOf(database, payer, task),
      holds: (filter) => readHolds(database, filter),
      costs: (holds) => readCosts(database, holds),
      movement: (transfer) => readMovement(database, transfer),
      payments: (filter) => readPayments(database, filter),
      economy: () => readEconomy(database),
      accounts: async () => accountsIn(await readBalances(database)),
      sums: () => readBookSums(database),
      volume: (asked) => readVolume(database, asked),
      endDue: () => ledger.endDue(),
    },
    slots: {
      reserve: (command, correlation, mandate) =>
        reserveOnce(ledger, command, correlation, mandate),
      submit: async (command, correlation) =>
        (await ledger.submit({ command, correlation })).decision,
      find: (id) => readReservation(database, id),
      ofHolds: (holds) => readReservationsOf(database, holds),
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
    live: {
      span: () => readSpan(database),
      after: (place, wanted) => readLive(database, place, wanted),
    },
    results: {
      ...createResults({ database }),
      holdsFor: (agent, tasks) => readHoldsFor(database, agent, tasks),
      trace: (sought) => readWork(database, sought),
    },
    told: createTold({ database }),
    deliveries: {
      ...outbox,
      enqueue: (delivery) => outbox.enqueue({ id: chance.uuidV7(clock.now()), ...delivery }),
    },
    letters: createLetters({ database, clock }),
    alerts: createAlertLog({ database, clock }),
    webhooks: createWebhooks({ database, clock }),
    control: createControl({ database, clock, chance }),
    approvals: createApprovals({ database, clock, chance }),
    posts: createPosts({ database, clock, chance }),
    campaigns: createCampaigns({ database }),
    reviews: createReviews({ database, clock, chance }),
    observations: createObservations({ database, clock, chance }),
    aliases: createAliases({ database, clock }),
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
