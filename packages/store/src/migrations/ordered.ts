/**
 * All migrations in their order. A new one is a new file and a new line here; an old one is never
 * touched.
 */
import { books } from './0001-books.ts'
import { registry } from './0002-registry.ts'
import { presence } from './0003-presence.ts'
import { reservations } from './0004-reservations.ts'
import { results } from './0005-results.ts'
import { profiles } from './0006-profiles.ts'
import { told } from './0007-told.ts'
import { observations } from './0008-observations.ts'
import { nonces } from './0009-nonces.ts'
import { deliveries } from './0010-deliveries.ts'
import { speed } from './0011-speed.ts'
import { presenceOrder } from './0012-presence-order.ts'
import { control } from './0013-control.ts'
import { allowances } from './0014-allowances.ts'
import { agentWork } from './0015-agent-work.ts'
import { wallet } from './0016-wallet.ts'
import { approvals } from './0017-approvals.ts'
import { posts } from './0018-posts.ts'
import { campaigns } from './0020-campaigns.ts'
import type { Migration } from './migration.ts'

export const MIGRATIONS: readonly Migration[] = [
  books,
  registry,
  presence,
  reservations,
  results,
  profiles,
  told,
  observations,
  nonces,
  deliveries,
  speed,
  presenceOrder,
  control,
  allowances,
  agentWork,
  wallet,
  approvals,
  posts,
  campaigns,
]
