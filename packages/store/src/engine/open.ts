/**
 * From an address to a database: `pglite:<directory>`, `pglite:memory` or `postgres://…`.
 */
import { Failure } from '../failure.ts'
import type { Database } from './database.ts'
import { openPglite } from './pglite.ts'
import { openPostgres, type PostgresOptions } from './postgres.ts'

export function openDatabase(address: string, options: PostgresOptions = {}): Promise<Database> {
  if (/^postgres(ql)?:\/\//.test(address)) return openPostgres(address, options)
  const [, directory] = /^pglite:(.+)$/s.exec(address) ?? []
  if (directory === 'memory') return openPglite({})
  if (directory !== undefined) return openPglite({ directory })
  // The address may hold a password, so only its beginning is shown.
  const [scheme = ''] = address.split(':', 1)
  return Promise.reject(new Failure('address_malformed', `${scheme.slice(0, 20)}:…`))
}
