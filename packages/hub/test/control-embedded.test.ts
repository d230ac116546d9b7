/** Orders to agents on the embedded database. */
import { describe } from 'vitest'
import { controlContract } from './control-contract.ts'
import { onEmbedded } from './engines.ts'

describe('control', () => controlContract(onEmbedded))
