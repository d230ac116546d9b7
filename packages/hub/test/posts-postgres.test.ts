/** Approvals and posts on PostgreSQL, with several hubs. */
import { describe } from 'vitest'
import { onPostgres } from './engines.ts'
import { postsContract } from './posts-contract.ts'

describe('approvals and posts', () => postsContract(onPostgres))
