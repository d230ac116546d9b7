/** The dialects in which agents speak of themselves, and what is kept of it, on one engine. */
import { afterAll, beforeAll, describe } from 'vitest'
import { aliasesContract } from './aliases-contract.ts'
import { feedContract } from './feed-contract.ts'
import { moltbookContract } from './moltbook-contract.ts'
import { observationsContract } from './observations-contract.ts'
import { openclawContract } from './openclaw-contract.ts'
import type { Places } from './places.ts'

export function dialectsContract(places: Places): void {
  beforeAll(places.start, 120_000)
  afterAll(places.end, 60_000)

  describe('MoltBook', () => moltbookContract(places))
  describe('the status feed', () => feedContract(places))
  describe('OpenClaw', () => openclawContract(places))
  describe('aliases', () => aliasesContract(places))
  describe('observations', () => observationsContract(places))
}
