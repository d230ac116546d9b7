/** The live feed on the embedded database. */
import { liveContract } from './live-contract.ts'
import { embeddedPlaces } from './places.ts'

liveContract(embeddedPlaces())
