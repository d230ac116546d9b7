/**
 * All migrations in their order. A new one is a new file and a new line here; an old one is never
 * touched.
 */
import { books } from './0001-books.ts'
import { registry } from './0002-registry.ts'
import { presence } from './0003-presence.ts'
import type { Migration } from './migration.ts'

export const MIGRATIONS: readonly Migration[] = [books, registry, presence]
