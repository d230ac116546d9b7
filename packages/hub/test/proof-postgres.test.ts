/** Every proof in every state, on a real PostgreSQL. */

import { onPostgres } from './engines.ts'
import { proofContract } from './proof-contract.ts'

proofContract(onPostgres)
