/** Campaigns and reviews on PostgreSQL. */
import { describe } from 'vitest'
import { onPostgres } from './engines.ts'
import { reviewsContract } from './reviews-contract.ts'

describe('campaigns and reviews', () => reviewsContract(onPostgres))
