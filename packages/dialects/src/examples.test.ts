/** what the documentation shows is what the readers take. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { DIALECTS } from './dialects.ts'
import { EXAMPLES } from './examples.ts'
import type { Messages } from './messages.ts'

const dialects: Readonly<Record<string, Messages>> = DIALECTS

describe('X-7 the examples of the documentation', () => {
  for (const [message, example] of Object.entries(EXAMPLES)) {
    test(`${message} is read`, () => {
      const [dialect = '', name = ''] = message.split('/')
      const read = dialects[dialect]?.[name]?.read(example)
      assert.ok(read?.ok, JSON.stringify(read))
    })
  }
})
