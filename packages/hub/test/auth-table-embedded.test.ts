/** Every proof in every state, on the embedded database. */
import { authTableContract } from './auth-table-contract.ts'
import { onEmbedded } from './engines.ts'

authTableContract(onEmbedded)
