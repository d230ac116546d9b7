/** every published schema is sound draft-07, closed in itself, and named. */
import assert from 'node:assert/strict'
import { Ajv } from 'ajv'
import { describe, test } from 'vitest'
import { DIALECTS } from './dialects.ts'

const ajv = new Ajv({ strict: false })

for (const [dialect, messages] of Object.entries(DIALECTS)) {
  describe(`X-7 ${dialect}`, () => {
    for (const [message, { schema }] of Object.entries(messages)) {
      test(message, () => {
        const published = JSON.parse(JSON.stringify(schema))
        assert.ok(ajv.validateSchema(published), ajv.errorsText())
        assert.match(published.title ?? '', /\w/, 'a schema has a title')
        assert.ok(!JSON.stringify(published).includes('"$ref"'), 'a schema stands alone')
      })
    }
  })
}
