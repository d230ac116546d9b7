/** The contract of the dialects on a real PostgreSQL. */
import { dialectsContract } from './dialects-contract.ts'
import { postgresPlaces } from './places.ts'

dialectsContract(postgresPlaces())
