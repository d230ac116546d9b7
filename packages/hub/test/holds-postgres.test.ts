/** Holds and reserve offers on a real PostgreSQL. */
import { onPostgres } from './engines.ts'
import { holdsContract } from './holds-contract.ts'
import { offersContract } from './offers-contract.ts'

holdsContract(onPostgres)
offersContract(onPostgres)
