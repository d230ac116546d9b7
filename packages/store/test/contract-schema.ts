/**
 * The schema through time: fresh, of an older version, of a newer one; and backups, which carry
 * everything from one database to another.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type { CorrelationId } from '@chimera/domain/ids'
import { describe, test } from 'vitest'
import { backup, restore } from '../src/backup.ts'
import type { Database } from '../src/engine/database.ts'
import { openDatabase } from '../src/engine/open.ts'
import { hasCode } from '../src/failure.ts'
import { createLedger } from '../src/ledger/ledger.ts'
import { readAccount } from '../src/ledger/reading.ts'
import { inspectSchema, migrate, requireSchema } from '../src/migrate.ts'
import { MIGRATIONS } from '../src/migrations/ordered.ts'
import { createPresenceLog } from '../src/presence.ts'
import { createTokens } from '../src/registry/tokens.ts'
import { asked, capture, confirm, hold, open, owner, pay, proveBooks } from './books.ts'
import type { Stage } from './contract.ts'
import { event } from './contract-presence.ts'
import { createHands, START } from './hands.ts'

const steps = MIGRATIONS.length
/** Numbers are given out before steps are written, so that some may be left out. */
const latest = Math.max(...MIGRATIONS.map(({ version }) => version))

const stepsBefore = (step: number) => Array.from({ length: step - 1 }, (_, at) => at + 1)

/** A little of everything. */
async function fill(database: Database): Promise<void> {
  const hands = createHands()
  const ledger = createLedger({ database, ...hands, terms: { feeBasisPoints: 200 } })
  const submit = (command: Parameters<typeof asked>[0]) => ledger.submit(asked(command))
  await submit(open('ann', 1_000))
  await submit(open('bob "\n\\', 5))
  await submit(pay('p1', { from: 'ann', to: 'bob "\n\\' }, 100, 'job'))
  await submit(hold('h1', { from: 'ann', to: 'bob "\n\\' }, 300))
  await submit(confirm('h1', 200))
}

/** What the first version wrote: a backup of it, which is kept as it was and never made again. */
const OLD_LINES = readFileSync(new URL('./backup-1.jsonl', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '')

/** The rows of the first version in a database that has at least its tables. */
async function fillOld(database: Database): Promise<void> {
  await database.transaction(
    async (tx) => {
      await tx.query('DELETE FROM totals')
      for (const line of OLD_LINES.slice(1, -1)) {
        const { table, row } = JSON.parse(line) as { table: string; row: object }
        const columns = Object.keys(row).join(', ')
        await tx.query(
          `INSERT INTO ${table} (${columns})
           SELECT ${columns} FROM json_populate_record(NULL::${table}, $1::json)`,
          [JSON.stringify(row)],
        )
      }
      await tx.query(`SELECT setval(pg_get_serial_sequence('facts', 'id'), 100)`)
    },
    { role: 'owner' },
  )
}

async function linesOf(database: Database): Promise<readonly string[]> {
  const lines: string[] = []
  await backup(database, (line) => void lines.push(line))
  return lines
}

export function schemaContract({ engine, fresh, empty }: Stage): void {
  describe('the schema', () => {
    test('a fresh database says what is missing, and has it after migrating', async () => {
      const database = await empty()
      const before = await inspectSchema(database)
      assert.deepEqual([before.version, before.pending.length], [0, steps])
      await assert.rejects(requireSchema(database), (e) => hasCode(e, 'schema_missing'))
      const [table] = await database.query(`SELECT to_regclass('schema_migrations') AS it`)
      assert.equal(table?.it, null, 'looking writes nothing')
      await Promise.all([migrate(database, { now: START }), migrate(database, { now: START })])
      await requireSchema(database)
      const { version, pending } = await inspectSchema(database)
      assert.deepEqual([version, pending], [latest, []])
    })

    test('P-10 a database of each older version is brought forward whole', async () => {
      // The steps are the same SQL; the embedded database takes seconds to start, so it does two.
      const olds = engine.name === 'PostgreSQL' ? stepsBefore(steps) : [1, steps - 1]
      for (const old of olds) {
        const address = await engine.newAddress()
        const before = await openDatabase(address)
        await migrate(before, { now: START, migrations: MIGRATIONS.slice(0, old) })
        await fillOld(before)
        await before.close()

        const database = await openDatabase(address)
        assert.equal((await inspectSchema(database)).version, MIGRATIONS[old - 1]?.version)
        await migrate(database, { now: START })
        await requireSchema(database)
        assert.equal((await readAccount(database, owner('ann')))?.balanceCents, 700)
        await createPresenceLog({ database, clock: createHands().clock }).append(event('e'))
        const ledger = createLedger({ database, ...createHands() })
        const { decision } = await ledger.submit(asked(capture('h1', 200)))
        assert.ok(decision.ok, 'what was begun by the old version is ended by this one')
        await proveBooks(database)
        await database.close()
      }
    })

    test('a newer schema is worked with if nothing breaks, and left alone otherwise', async () => {
      const { database } = await fresh()
      const step = (version: number, breaking: boolean) =>
        database.transaction(
          (tx) =>
            tx.query('INSERT INTO schema_migrations VALUES ($1, $2, $3, 0)', [
              version,
              `step-${version}`,
              breaking,
            ]),
          { role: 'owner' },
        )
      await step(latest + 1, false)
      await requireSchema(database)
      await migrate(database, { now: START })
      await step(latest + 2, true)
      const newer = (error: unknown) =>
        hasCode(error, 'schema_newer') && error.detail.includes(`step-${latest + 2}`)
      await assert.rejects(requireSchema(database), newer)
      await assert.rejects(migrate(database, { now: START }), newer)
    })
  })

  describe('backups', () => {
    test('P-10 what was saved is restored, line by line, and the chain goes on', async () => {
      const { database } = await fresh()
      await fill(database)
      const { clock } = createHands()
      await createPresenceLog({ database, clock }).append(event('e1'))
      await createTokens({ database, clock }).issue(
        { digest: 'd' as never, id: 't', kind: 'operator', scopes: ['all'] },
        'c' as CorrelationId,
      )
      await proveBooks(database)
      const lines = await linesOf(database)

      const copy = await empty()
      await restore(copy, lines, { now: START })
      assert.deepEqual(await linesOf(copy), lines)
      await fill(copy)
      const ledger = createLedger({ database: copy, ...createHands() })
      await ledger.submit(asked(pay('p2', { from: 'ann', to: 'bob "\n\\' }, 1)))
      await proveBooks(copy)
      const again = restore(copy, lines, { now: START })
      await assert.rejects(again, (error) => hasCode(error, 'restore_refused'))
    })

    test('of an older version are restored and brought forward', async () => {
      const copy = await empty()
      await restore(copy, OLD_LINES, { now: START })
      await requireSchema(copy)
      await proveBooks(copy)
    })

    test('that are cut off, altered or of something else are refused whole', async () => {
      const { database } = await fresh()
      await fill(database)
      const lines = await linesOf(database)
      const swapped = lines.map((line) => line.replace('"ann"', '"eve"'))
      // biome-ignore format: a table is read by its columns
      const damaged: [what: string, lines: readonly string[]][] = [
        ['empty',            []],
        ['without its end',  lines.slice(0, -1)],
        ['without a row',    lines.filter((_, at) => at !== 3)],
        ['altered',          swapped],
        ['not JSON',         ['chimera']],
        ['another format',   ['{"format":"other"}', ...lines.slice(1)]],
        ['an unknown table', [lines[0] ?? '', '{"table":"pg_authid","row":{}}', ...lines.slice(1)]],
      ]
      const copy = await empty()
      for (const [what, each] of damaged) {
        const tried = restore(copy, each, { now: START })
        await assert.rejects(tried, (error) => hasCode(error, 'backup_malformed'), what)
        assert.equal((await inspectSchema(copy)).version, 0, `${what}: nothing is left behind`)
      }
    })
  })
}
