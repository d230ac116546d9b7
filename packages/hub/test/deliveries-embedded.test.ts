/** The deliveries contract on the embedded database. */
import { deliveriesContract } from './deliveries-contract.ts'
import { onEmbedded } from './engines.ts'

deliveriesContract(onEmbedded)
