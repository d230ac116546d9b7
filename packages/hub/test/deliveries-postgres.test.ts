/** The deliveries contract on a real PostgreSQL. */
import { deliveriesContract } from './deliveries-contract.ts'
import { onPostgres } from './engines.ts'

deliveriesContract(onPostgres)
