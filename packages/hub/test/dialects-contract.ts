/** The dialects in which agents speak of themselves, and what is kept of it, on one engine. */
import { afterAll, describe } from 'vitest'
import { aliasesContract } from './aliases-contract.ts'
import type { Engine } from './engines.ts'
import { feedContract } from './feed-contract.ts'
import { moltbookContract } from './moltbook-contract.ts'
import { observationsContract } from './observations-contract.ts'
import { openclawContract } from './openclaw-contract.ts'

export function dialectsContract(engine: Engine): void {
  afterAll(engine.end, 60_000)

  describe('MoltBook', () => moltbookContract(engine))
  describe('the status feed', () => feedContract(engine))
  describe('OpenClaw', () => openclawContract(engine))
  describe('aliases', () => aliasesContract(engine))
  describe('observations', () => observationsContract(engine))
}
