/** Approvals and posts on the embedded database. */
import { describe } from 'vitest'
import { onEmbedded } from './engines.ts'
import { postsContract } from './posts-contract.ts'

describe('approvals and posts', () => postsContract(onEmbedded))
