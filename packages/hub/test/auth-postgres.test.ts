/** Who may do what, on a real PostgreSQL. */
import { describe } from 'vitest'
import { authContract } from './auth-contract.ts'
import { onPostgres } from './engines.ts'
import { speakerContract } from './speaker-contract.ts'

describe('the door', () => authContract(onPostgres))
describe('the door of the other dialects', () => speakerContract(onPostgres))
