/** The Chorus contract on the embedded database. */
import { chorusContract } from './chorus-contract.ts'
import { onEmbedded } from './engines.ts'

chorusContract(onEmbedded)
