/** Campaigns and reviews on the embedded database. */
import { describe } from 'vitest'
import { onEmbedded } from './engines.ts'
import { reviewsContract } from './reviews-contract.ts'

describe('campaigns and reviews', () => reviewsContract(onEmbedded))
