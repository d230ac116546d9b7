/** The live feed on a real PostgreSQL. */

import { onPostgres } from './engines.ts'
import { liveContract } from './live-contract.ts'

liveContract(onPostgres())
