/** Orders to agents on PostgreSQL. */
import { describe } from 'vitest'
import { controlContract } from './control-contract.ts'
import { onPostgres } from './engines.ts'

describe('control', () => controlContract(onPostgres))
