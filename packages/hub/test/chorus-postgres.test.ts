/** The Chorus contract on a real PostgreSQL. */
import { chorusContract } from './chorus-contract.ts'
import { onPostgres } from './engines.ts'

chorusContract(onPostgres)
