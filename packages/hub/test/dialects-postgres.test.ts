/** The contract of the dialects on a real PostgreSQL. */
import { dialectsContract } from './dialects-contract.ts'
import { onPostgres } from './engines.ts'

dialectsContract(onPostgres())
