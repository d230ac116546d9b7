/** A signed request counts once, on a real PostgreSQL. */
import { onPostgres } from './engines.ts'
import { replayContract } from './replay-contract.ts'

replayContract(onPostgres)
