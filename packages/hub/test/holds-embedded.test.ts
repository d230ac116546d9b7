/** Holds and reserve offers on the embedded database. */
import { onEmbedded } from './engines.ts'
import { holdsContract } from './holds-contract.ts'
import { offersContract } from './offers-contract.ts'

holdsContract(onEmbedded)
offersContract(onEmbedded)
