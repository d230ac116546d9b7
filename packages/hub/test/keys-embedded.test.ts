/** Keys and profiles on the embedded database. */
import { describe } from 'vitest'
import { onEmbedded } from './engines.ts'
import { keysContract } from './keys-contract.ts'
import { profilesContract } from './profiles-contract.ts'

describe('keys', () => keysContract(onEmbedded))
describe('profiles', () => profilesContract(onEmbedded))
