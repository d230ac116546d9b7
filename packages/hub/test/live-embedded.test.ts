/** The live feed on the embedded database. */

import { onEmbedded } from './engines.ts'
import { liveContract } from './live-contract.ts'

liveContract(onEmbedded())
