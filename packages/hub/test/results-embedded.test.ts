/** Results and work by its key, on the embedded database. */
import { onEmbedded } from './engines.ts'
import { resultsContract } from './results-contract.ts'
import { workContract } from './work-contract.ts'

resultsContract(onEmbedded)
workContract(onEmbedded)
