/** The contract of the dialects on the embedded database. */
import { dialectsContract } from './dialects-contract.ts'
import { onEmbedded } from './engines.ts'

dialectsContract(onEmbedded())
