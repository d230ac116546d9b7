/** Keys and profiles on a real PostgreSQL. */
import { describe } from 'vitest'
import { onPostgres } from './engines.ts'
import { keysContract } from './keys-contract.ts'
import { profilesContract } from './profiles-contract.ts'

describe('keys', () => keysContract(onPostgres))
describe('profiles', () => profilesContract(onPostgres))
