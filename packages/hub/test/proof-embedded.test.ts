/** Every proof in every state, on the embedded database. */

import { onEmbedded } from './engines.ts'
import { proofContract } from './proof-contract.ts'

proofContract(onEmbedded)
