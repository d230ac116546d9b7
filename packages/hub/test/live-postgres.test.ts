/** The live feed on a real PostgreSQL. */
import { liveContract } from './live-contract.ts'
import { postgresPlaces } from './places.ts'

liveContract(postgresPlaces())
