/** Who may do what, on the embedded database. */
import { describe } from 'vitest'
import { authContract } from './auth-contract.ts'
import { authDialectsContract } from './auth-dialects-contract.ts'
import { onEmbedded } from './engines.ts'

describe('the door', () => authContract(onEmbedded))
describe('the door of the other dialects', () => authDialectsContract(onEmbedded))
