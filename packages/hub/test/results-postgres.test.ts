/** Results and work by its key, on a real PostgreSQL. */
import { onPostgres } from './engines.ts'
import { resultsContract } from './results-contract.ts'
import { workContract } from './work-contract.ts'

resultsContract(onPostgres)
workContract(onPostgres)
