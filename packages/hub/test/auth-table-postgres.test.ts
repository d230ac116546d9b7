/** Every proof in every state, on a real PostgreSQL. */
import { authTableContract } from './auth-table-contract.ts'
import { onPostgres } from './engines.ts'

authTableContract(onPostgres)
