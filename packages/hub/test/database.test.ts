/** A hub's way to its PostgreSQL: encrypted as the address says, or not at all. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAuthority } from '@chimera/host/testing/certificates'
import { type PostgresServer, startPostgres } from '@chimera/store/testing/postgres-server'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { runHub } from './running.ts'

describe('PostgreSQL by TLS', () => {
  const home = mkdtempSync(join(tmpdir(), 'chimera-tls-'))
  const [ours, theirs] = [join(home, 'ours.pem'), join(home, 'theirs.pem')]
  let server: PostgresServer
  let address = ''

  beforeAll(async () => {
    const authority = createAuthority('Ours')
    writeFileSync(ours, authority.cert)
    writeFileSync(theirs, createAuthority('Theirs').cert)
    server = await startPostgres({ tls: authority.certify('database', ['127.0.0.1']) })
    address = await server.newAddress()
  }, 120_000)
  afterAll(async () => {
    await server.stop()
    rmSync(home, { recursive: true, force: true })
  }, 60_000)

  test('a server whose certificate holds is used', async () => {
    const hub = await runHub({ database: `${address}?sslmode=verify-full&sslrootcert=${ours}` })
    const opened = await hub.post('/accounts', { owner_id: 'alice' })
    assert.equal(opened.status, 201)
    await hub.stop()
  })

  // biome-ignore format: a table is read by its columns
  const untrusted = [
    ['of another authority',          () => `${address}?sslmode=verify-full&sslrootcert=${theirs}`,      /certificate/],
    ['that no authority vouches for', () => `${address}?sslmode=verify-full`,                            /certificate/],
    ['by another name',               () => `${named(address)}?sslmode=verify-full&sslrootcert=${ours}`, /does not match/],
  ] as const
  test.each(untrusted)('a server %s is not', async (_, where, detail) => {
    const refused = { code: 'database_unreachable', detail }
    await assert.rejects(runHub({ database: where() }), refused)
  })

  test('nor does the hub go on without TLS where the server asks for it', async () => {
    await assert.rejects(runHub({ database: `${address}?sslmode=disable` }))
  })
})

const named = (address: string) => address.replace('127.0.0.1', 'localhost')
