/** The contract of the dialects on the embedded database. */
import { dialectsContract } from './dialects-contract.ts'
import { embeddedPlaces } from './places.ts'

dialectsContract(embeddedPlaces())
