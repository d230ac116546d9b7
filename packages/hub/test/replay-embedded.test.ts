/** A signed request counts once, on the embedded database. */
import { onEmbedded } from './engines.ts'
import { replayContract } from './replay-contract.ts'

replayContract(onEmbedded)
