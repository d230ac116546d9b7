/** Who may do what, on the embedded database. */
import { describe } from 'vitest'
import { authContract } from './auth-contract.ts'
import { onEmbedded } from './engines.ts'
import { speakerContract } from './speaker-contract.ts'

describe('the door', () => authContract(onEmbedded))
describe('the door of the other dialects', () => speakerContract(onEmbedded))
